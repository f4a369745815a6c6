"""Secrets that tell themselves: tokens with a maker's prefix.

Every shape has a literal that stands in each such token. The literals are looked for only among
the long words of a text, which is a tenth of it or less, and a pattern runs only where its literal
was seen: a hundred shapes cost little more than one.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from functools import cache, partial

from agentlearn.guard.secret_values import is_invented

WORD_CHARS = (string.ascii_letters + string.digits + "_-~.").encode()
TO_WORDS = bytes(ord("a") if code in WORD_CHARS else ord(" ") for code in range(256))
LONG_WORD = re.compile("a" * 20 + "a*")
"""On a text whose word characters all became `a`: a run of one letter is found fastest."""

UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"

CLEAR = r"""
github-token         gh               gh[pousr]_[A-Za-z0-9_]{20,}
github-token         github_pat_      github_pat_[A-Za-z0-9_]{22,}
gitlab-token         gl               gl(?:pat|dt|rt|rtr|ptt|ft|cbt|imt)-[\w.-]{20,}
gitlab-token         gl               gl(?:agent|oas|soat|ffct|wt)-[\w.-]{20,}
gitlab-token         GR1348941        GR1348941[\w-]{20}
slack-token          xox              xox(?:[abeoprsc]|e\.xox[bp])-[\w-]{10,}
slack-token          xapp-            xapp-\d-[\w-]{20,}
stripe-key           k_live_          [sr]k_live_[A-Za-z0-9]{16,}
stripe-key           k_test_          [sr]k_test_[A-Za-z0-9]{16,}
stripe-key           k_prod_          [sr]k_prod_[A-Za-z0-9]{16,}
stripe-key           whsec_           whsec_[A-Za-z0-9+/=]{24,}
anthropic-key        sk-ant-          sk-ant-[\w-]{20,}
openai-key           T3BlbkFJ         sk-[\w-]{8,200}T3BlbkFJ[\w-]{8,}
openai-key           sk-proj-         sk-proj-[\w-]{20,}
openai-key           sk-svcacct-      sk-svcacct-[\w-]{20,}
openai-key           sk-admin-        sk-admin-[\w-]{20,}
openrouter-key       sk-or-           sk-or-(?:v\d-)?[0-9a-f]{32,}
langfuse-key         sk-lf-           sk-lf-[\w-]{20,}
google-key           AIza             AIza[\w-]{35}
google-token         ya29.            ya29\.[\w-]{20,}
google-secret        GOCSPX-          GOCSPX-[\w-]{20,}
azure-secret         Q~               [\w~.]{3}\dQ~[\w~.-]{31,34}
azure-key            JQQJ9            [A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{20,}
azure-devops-token   AZDO             [A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}
sendgrid-key         SG.              SG\.[\w-]{16,}\.[\w-]{16,}
brevo-key            xkeysib-         xkeysib-[0-9a-f]{32,}[\w-]*
brevo-key            xsmtpsib-        xsmtpsib-[0-9a-f]{32,}[\w-]*
npm-token            npm_             npm_[A-Za-z0-9]{36,}
pypi-token           pypi-Ag          pypi-Ag[\w-]{40,}
rubygems-token       rubygems_        rubygems_[0-9a-f]{40,}
clojars-token        CLOJARS_         CLOJARS_[A-Za-z0-9]{40,}
docker-token         dckr_            dckr_[po]at_[\w-]{20,}
packagist-token      packagist_       packagist_[a-z]{2,4}_[0-9a-f]{40,}
huggingface-token    hf_              hf_[A-Za-z0-9]{30,}
huggingface-token    api_org_         api_org_[A-Za-z0-9]{30,}
replicate-token      r8_              r8_[A-Za-z0-9]{30,}
digitalocean-token   _v1_             do[por]_v1_[0-9a-f]{40,}
together-key         tgp_v1_          tgp_v1_[\w-]{30,}
heroku-key           HRKU-            HRKU-[\w-]{30,}
shopify-token        shp              shp(?:at|ca|pa|ss|ua)_[0-9a-fA-F]{32}
square-token         sq0              sq0(?:atp|csp|idp)-[\w-]{22,}
jwt                  eyJ              eyJ[\w-]{8,}(?:\.[\w-]*){0,4}
databricks-token     dapi             dapi[0-9a-f]{32}(?:-\d)?
linear-key           lin_             lin_(?:api|oauth)_[A-Za-z0-9]{30,}
notion-token         ntn_             ntn_[A-Za-z0-9]{40,}
notion-token         secret_          secret_[A-Za-z0-9]{43}
vault-token          hv               hv[sbr]\.[\w-]{20,}
doppler-token        dp.              dp\.(?:pt|st|ct|sa|said|scim|audit)\.[\w.-]{38,}
grafana-token        glsa_            glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}
grafana-token        glc_             glc_[A-Za-z0-9+/]{32,}={0,3}
grafana-token        eyJrIjoi         eyJrIjoi[A-Za-z0-9+/]{60,}={0,3}
sentry-token         sntry            sntry[su]_[\w+/=-]{30,}
newrelic-key         NR               NR(?:AK|JS|II|IQ|RA|AA|SP)-[\w-]{19,}
newrelic-key         NRAL             [0-9a-f]{36}NRAL
terraform-token      .atlasv1.        [A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,}
fly-token            fo1_             fo1_[\w-]{30,}
fly-token            fm               fm[12][ar]?_[\w+/=-]{40,}
supabase-token       sbp_             sbp_(?:v0_)?[0-9a-f]{40}
supabase-key         sb_secret_       sb_secret_[\w-]{20,}
planetscale-token    pscale_          pscale_(?:tkn|oauth|pw)_[\w=.-]{30,}
groq-key             gsk_             gsk_[A-Za-z0-9]{30,}
xai-key              xai-             xai-[A-Za-z0-9]{40,}
perplexity-key       pplx-            pplx-[A-Za-z0-9]{30,}
cerebras-key         csk-             csk-[a-z0-9]{40,}
nvidia-key           nvapi-           nvapi-[\w-]{40,}
langsmith-key        lsv2_            lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}
tavily-key           tvly-            tvly-(?:(?:dev|prod)-)?[A-Za-z0-9]{20,}
firecrawl-key        fc-              fc-[0-9a-f]{32}
pinecone-key         pcsk_            pcsk_[\w]{40,}
e2b-key              e2b_             e2b_[0-9a-f]{40}
wandb-key            wandb_v1_        wandb_v1_[\w]{40,}
cloudflare-key       v1.0-            v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}
vercel-token         vercel_blob_rw_  vercel_blob_rw_[\w]{30,}
netlify-token        nf               nf[pcb]_[A-Za-z0-9]{36,}
render-key           rnd_             rnd_[A-Za-z0-9]{28,}
neon-key             napi_            napi_[a-z0-9]{50,}
posthog-key          ph               ph[xs]_[A-Za-z0-9]{40,}
airtable-token       pat              pat[A-Za-z0-9]{14}\.[0-9a-f]{64}
atlassian-token      AT               AT[AC]TT3[\w=-]{60,}
circleci-token       CCIP             CCIP(?:AT|RJ)_[\w]{30,}
buildkite-token      bk               bk(?:ua|ct|at|pt)_[\w]{30,}
sonar-token          sq               sq[pua]_[0-9a-f]{40}
sourcegraph-token    sgp_             sgp_(?:(?:[0-9a-f]{16}|local)_)?[0-9a-f]{40}
postman-key          PMAK-            PMAK-[0-9a-f]{24}-[0-9a-f]{34}
pulumi-token         pul-             pul-[0-9a-f]{40}
dynatrace-token      dt0              dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}
figma-token          fig              fig[ud]r?_[\w-]{30,}
dropbox-token        sl.              sl\.(?:u\.)?[\w-]{100,}
typeform-token       tfp_             tfp_[\w.=-]{40,}
contentful-token     CFPAT-           CFPAT-[\w-]{40,}
readme-key           rdme_            rdme_[a-z0-9]{60,}
prefect-key          pn               pn[ub]_[A-Za-z0-9]{36}
duffel-token         duffel_          duffel_(?:test|live)_[\w=-]{40,}
flutterwave-key      FLWSECK          FLWSECK(?:_TEST)?-[0-9a-zA-Z]{12,}(?:-X)?
shippo-token         shippo_          shippo_(?:live|test)_[0-9a-fA-F]{40}
1password-token      ops_eyJ          ops_eyJ[\w+/=-]{60,}
1password-key        A3-              A3-[A-Z0-9]{6}-[A-Z0-9]{6,11}(?:-[A-Z0-9]{5}){3,4}
openshift-token      sha256~          sha256~[\w-]{43}
age-key              AGE-SECRET-KEY-  AGE-SECRET-KEY-1[A-Z0-9]{40,}
plaid-token          access-          access-(?:sandbox|development|production)-UUID
hubspot-token        pat-             pat-[a-z]{2}\d-UUID
frameio-token        fio-u-           fio-u-[\w=-]{50,}
harness-token        at.              [ps]at\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}
tailscale-key        tskey-           tskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{20,}
mailchimp-key        -us              [0-9a-f]{32}-us\d{1,2}
mailgun-key          key-             key-[0-9a-f]{32}
discord-token        .                [MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}
discord-token        mfa.             mfa\.[\w-]{80,}
aws-secret-key       AKIA             AKIA[A-Z0-9]{16}[\W_]{1,8}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])
aws-secret-key       ASIA             ASIA[A-Z0-9]{16}[\W_]{1,8}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])
aws-session-token    IQoJb3JpZ2lu     IQoJb3JpZ2lu[A-Za-z0-9+/=%]{60,}
aws-session-token    FwoGZXIvYXdz     FwoGZXIvYXdz[A-Za-z0-9+/=%]{60,}
private-key          b3BlbnNzaC1rZXkt b3BlbnNzaC1rZXkt[A-Za-z0-9+/]{40,}={0,2}
""".replace("UUID", UUID)
"""Kind, literal, pattern. These are so clear that they may begin in the middle of a word."""

BOUND = r"""
aws-key-id           AKIA             AKIA[A-Z0-9]{16}(?![A-Za-z0-9])
aws-key-id           ASIA             ASIA[A-Z0-9]{16}(?![A-Za-z0-9])
aws-key-id           ABIA             ABIA[A-Z0-9]{16}(?![A-Za-z0-9])
aws-key-id           ACCA             ACCA[A-Z0-9]{16}(?![A-Za-z0-9])
aws-key-id           A3T              A3T[A-Z0-9]{17}(?![A-Za-z0-9])
square-token         EAAA             EAAA(?<![+/]EAAA)[\w-]{56,}
facebook-token       EAA              EAA(?<![+/]EAA)[A-Z][A-Za-z0-9]{80,}
atlassian-token      ATBB             ATBB[A-Za-z0-9]{28,}
easypost-key         EZ               EZ[AT]K[A-Za-z0-9]{54}
artifactory-token    AKCp             AKCp[A-Za-z0-9]{60,}
artifactory-token    cmVmd            cmVmdGtuO[A-Za-z0-9]{50,}
launchdarkly-key     sdk-             sdk-UUID
yandex-key           AQVN             AQVN[\w-]{35,}
resend-key           re_              re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,}
openai-key           sk-              sk-[A-Za-z0-9]{32,}
openai-key           sess-            sess-[A-Za-z0-9]{40}
elevenlabs-key       sk_              sk_[0-9a-f]{48}
twilio-key           SK               SK[0-9a-f]{32}(?![A-Za-z0-9])
alibaba-key-id       LTAI             LTAI[A-Za-z0-9]{12,20}(?![A-Za-z0-9])
tencent-key-id       AKID             AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])
crates-token         cio              cio[A-Za-z0-9]{32}(?![A-Za-z0-9])
nuget-key            oy2              oy2[a-z0-9]{43}(?![A-Za-z0-9])
""".replace("UUID", UUID)
"""Weaker ones, which count only where a word begins."""


SHAPES: list[tuple[str, str, str, bool]] = [
    (*line.split(maxsplit=2), is_bound)  # type: ignore[misc]
    for table, is_bound in ((CLEAR, False), (BOUND, True))
    for line in table.strip().splitlines()
]
_pattern = cache(partial(re.compile, flags=re.ASCII))
"""Most shapes never occur, and their patterns are never needed."""
PREFIX = re.compile(r"\A[A-Za-z0-9]{1,12}[-_.~](?:(?:v\d|live|test|api|proj|pat)[-_])?")
ESCAPE_END = re.compile(r"(?:\\+(?:[nrtbf]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})|%[0-9a-fA-F]{2})\Z")


def shaped_secrets(folded: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of each token with a prefix; the text has one byte a character."""
    words = _long_words(folded)
    for kind, literal, source, is_bound in SHAPES:
        # Some tokens have signs that end a word: these can only be seen in the whole text.
        goes_on = "/" in source or "=" in source
        if literal not in words or not (goes_on or _pattern(source).search(words)):
            continue
        for match in _pattern(source).finditer(folded):
            is_whole = not is_bound or begins_word(folded, match.start())
            is_token = kind != "jwt" or _is_jwt(match[0])
            if is_whole and is_token and not is_invented(PREFIX.sub("", match[0])):
                yield kind, match.start(), match.end()


def _is_jwt(token: str) -> bool:
    """Two parts at least, or a head that was cut off before its dot."""
    parts = token.split(".")
    return (len(parts) > 1 and len(parts[1]) >= 8) or (
        token.startswith("eyJhbGciOi") and len(token) >= 30
    )


def begins_word(text: str, start: int) -> bool:
    """Whether no word goes on there; the letter that ends an escape belongs to no word.

    Transcripts hold JSON inside JSON, where a line end is a backslash and an `n`.
    """
    if start == 0 or not (text[start - 1].isalnum() or text[start - 1] == "_"):
        return True
    return ESCAPE_END.search(text, max(0, start - 12), start) is not None


def _long_words(folded: str) -> str:
    marked = folded.encode().translate(TO_WORDS).decode()
    return "\n".join([folded[found.start() : found.end()] for found in LONG_WORD.finditer(marked)])
