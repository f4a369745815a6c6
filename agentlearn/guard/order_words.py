"""How planted orders sound in English.

Matched on normalised text in lower case without emphasis signs. Lessons are full of "ignore",
"always" and "you must", so a shape needs more than a verb: whom it addresses, what it wants
forgotten, from whom something is kept.
"""

from __future__ import annotations

from agentlearn.guard.order_shapes import shapes

PARTS = {
    "AI": r"ais?|llms?|(?:large )?language models?|ai models?|(?:ai |coding |code )?(?:assistants?"
    r"|agents?)|chat ?bots?|bots|claude|copilot|codex|gemini|chatgpt|gpt|cursor",
    "NAMED": r"claude|copilot|codex|gemini|chatgpt|(?:any|all|every|the|an?|other) (?:ai|llm)s?"
    r"|ai agents?|(?:ai|coding) assistants?|coding agents?|llms|ais",
    "PERSON": r"(?:the |your |any )?(?:users?|humans?|persons?|people|developers?|owners?"
    r"|operators?|anyone|anybody|them|him|her|maintainers?)",
    "EARLIER": r"previous|prior|earlier|above|preceding|foregoing|former|original|initial|past"
    r"|existing|system|developer|safety|security",
    "SAID": r"instructions?|prompts?|directions?|guidelines?|directives?|commands?|orders|messages?"
    r"|context|constraints|training|polic(?:y|ies)|guardrails|restrictions|rules?|conversation",
    "IGNORE": r"ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|bypass(?:ing)?"
    r"|discard|neglect|set aside|erase|drop|(?:do not|don't) (?:follow|obey)|pay no attention to"
    r"|stop (?:following|obeying)|no longer follow",
    "VALUABLE": r"secrets?|(?:api )?keys?|tokens?|credentials?|passwords?|\.env|\.ssh|id_rsa|\.aws"
    r"|env(?:ironment)?(?: variables?| vars?)?|\.netrc|history|conversation|transcript|chat|memory"
    r"|system prompt|source code|cookies?|private \w+|contents? of|everything"
    r"|~/\S+|/etc/\S+|/home/\S+",
    "OUTSIDE": r"(?:https?|ftp)://(?!localhost|127\.|0\.0\.0\.0|\[::1)|[\w.+-]+@[\w-]+\.\w|attacker"
    r"|(?:an? |the |this |our )?(?:remote|external|webhook|following) ",
    "FILES": r"(?:claude|agents|user|memory|gemini|skill|copilot-instructions)\.md|\.cursorrules"
    r"|\.clinerules|\.windsurfrules",
    "NOTES": r"{FILES}|memory(?= ?[:.,!]| ?\Z)",
    "KEYFILE": r"\.ssh/(?!config|known_hosts|\S*\.pub)|id_(?:rsa|ed25519|ecdsa)\b(?!\.pub)"
    r"|\.aws/credentials|\.netrc\b|\.kube/config|\.docker/config\.json|\.pgpass\b|/etc/shadow"
    r"|\.gnupg\b|login\.keychain|wallet\.dat",
    "TAKE": r"cat|read|print|show|open|dump|output|include|paste|copy|send|reveal|upload|type|less"
    r"|head|tail|scp|get|fetch|display|attach|echo|encode|base64|zip|tar|exfiltrate",
}
TABLE = r"""
== override (denied): instruction, prompt, direct, guideline, command, order, message, context
== constraint, training, polic, guardrail, restriction, rule, conversation
\b{IGNORE} (?:\S+ ){0,4}?(?:{EARLIER}|your|all(?= (?:of )?(?:the )?(?:instr|prompt|directi)))
 (?:(?:of|the|your|other|and|{EARLIER}) ){0,4}{SAID}\b

== override (denied): above, before, told, preced, so far, until now, said, you know, learned
\b{IGNORE} (?:everything|anything|all|whatever|what)\b[^.\n]{0,24}\b(?:above|before|preceding
|so far
|until now|been told|were told|was said|you know|you learned)\b
|\b{IGNORE} (?:all )?(?:of )?the above\b
|\b{IGNORE} (?:the |any |all )*{SAID} (?:that )?you (?:have been|were|got|received) ?(?:given
|told)?\b

== override: instruction, task, goal, objective, mission, directive, role, conversation
\byour (?:new|real|actual|true|only|updated) (?:instructions?|tasks?|goals?|objectives?|mission
|job)
 (?:is|are)\b|\b(?:begin|start of|here are your|these are your|your) new instructions\b
|\bnew (?:system )?instructions ?:|\breal instructions ?:|\bnew directives? (?:from|:)
|\byour (?:task|job|goal|role|mission) (?:has|have) (?:now )?changed\b
|\b(?:previous|this|the) conversation (?:is over|has ended|ended|ends here)

== override: supersede, override, precedence, replace, void, cancel, obsolete, revoked
== rescinded, withdrawn, overruled
\b(?:supersedes?|overrides?|replaces?|takes? precedence over) (?:(?:all|any|the|your|other) )*
{EARLIER} {SAID}\b|\b{EARLIER} {SAID} (?:were|are|have been) (?:now |hereby )?(?:cancell?ed|void
|obsolete|rescinded|withdrawn|overruled|invalid|revoked|superseded|replaced)\b

== override: apply, suspended, lifted, disabled, revoked, changed
\b(?:your|the|all|these) (?:(?:{EARLIER}|usual|normal|content) )?(?:guidelines|rules|instructions
|restrictions|guardrails|polic(?:y|ies)|limits|limitations|filters) (?:(?:do|does) not apply
|don't apply
|no longer appl(?:y|ies)|(?:is|are|have been|were) (?:now )?(?:suspended|lifted|disabled|revoked
|off))\b

== override: request, task, question, wish, asked
\b{IGNORE} (?:the |your |their |his |her )?(?:user|person|human|developer|operator)(?:'s
|s'?)? (?:actual
|original |current )?(?:requests?|tasks?|questions?|wishes|goals?|instructions?)\b
|\binstead of what (?:the|your) (?:user|person|human) (?:asked|wants|wanted|said)\b

== authority: order you, command you, instruct you, as your, message from
\bi (?:order|command|instruct) you\b|\bas your (?:admin(?:istrator)?|developer|creator|owner
|operator
|master|supervisor|manager),? (?:i|we)\b|\b(?:message|notice|update|instruction|order)s? from
 (?:anthropic|openai|google|microsoft|your (?:developers?|creators?|administrators?)|the (?:system
|ai) (?:administrators?|developers?|operators?|team))\b

== authority: approved, approval, permission, confirmation, consent, authoris, authoriz, agreed
== privileges, granted
\b(?:user|person|human|owner|admin(?:istrator)?) has (?:already |now |previously )?(?:approved
|agreed to
|authori[sz]ed|consented to|given (?:you )?(?:full |their |his |her )?(?:permission|consent
|approval)
(?: (?:for|to))?)(?: \w+){0,2} (?:all|any|every|further|future|everything|this)\b
|\byou (?:have been|are|were) (?:now )?granted (?:\w+ )?(?:admin|root|full|elevated|sudo)
|\b(?:do not|don't|no) need to (?:ask|get|obtain|wait) ?(?:for )?(?:\w+ )?(?:permission|approval
|confirmation|anyone
|first)\b
|\bno (?:further )?(?:confirmation|approval|permission|consent) (?:is )?(?:needed|required
|necessary)\b

== authority: as instructions, as orders, as commands, as coming, as a request, is from, comes from
\b(?:treat|regard|consider|take|read) [^.\n]{0,60}\bas (?:(?:an?|direct|new|the) )*(?:instructions?
|orders?|commands?|requests?|coming|messages?) from (?:the |your )?(?:user|system|developer|person
|administrator|owner)\b|\b(?:following|next|above) (?:text|message|request|part|section)? ?(?:is
|comes
|was sent) (?:directly )?(?:from|by) (?:the |your )(?:user|system|developer|administrator)\b

== authority: obey, comply, over everything, above all
\b(?:obey|comply with) (?:(?:the|this|these|every|all|any|my|each) )+(?:text|instructions?|orders?
|commands?|directives?|rules?|contents?|file|page|message)\b|\byou (?:must|will|shall) obey\b

== role: you are now, you're now, no longer
\byou(?: are|'re) now (?:an? (?!directory|folder|member|step)|the (?!owner)|dan\b|acting|no longer
|free|unrestricted|unfiltered|jailbroken|operating|authori[sz]ed|in (?:\w+ )?mode)
|\byou(?: are|'re) no longer (?:bound|restricted|required|subject|limited|an? )
|\byou no longer (?:have|need) to (?:follow|obey|ask)

== role: mode, pretend, jailb, do anything now, act as, imagine, suppose, game
\b(?:enter|enable|activate|switch to|you are in|now in) (?:god|dan|unrestricted|jailbreak) mode\b
|\b(?:enter|enable|activate|switch to|you are in|now in) (?:developer|debug|god|admin|dan
|unrestricted|maintenance|jailbreak|root) mode\b[^.\n]{0,40}\b(?:you|your|restrict|filter|rules)
|\bpretend (?:that )?you(?: are|'re| have)\b|\bdo anything now\b|\bjailbreak (?:mode|yourself)
|\b(?:imagine|suppose) (?:that )?you(?: are|'re| have) (?:an? |no |not )|\bgame (?:where
|in which) you\b
|\byou (?:will|must|shall|are to) (?:now )?(?:act|behave|operate|respond) as\b
|\bact as (?:if you|an? (?:root|admin|superuser|unrestricted|unfiltered|jailbroken|evil|different
|malicious))

== system-prompt (denied): prompt, instructions
\b(?:reveal|print|show|repeat|output|leak|tell me|display|dump|send|share|disclose|write out
|give me
|what (?:is|are)|recite|summari[sz]e|include
|expose) (?:me )?(?:all (?:of )?)?(?:the (?:\w+ )?(?:text|content|wording
|copy) of )?your (?:full |entire
|complete |hidden |initial |original |own |secret |system |exact )*(?:prompt|instructions)\b
|\b(?:reveal|leak|exfiltrate|disclose|recite) the (?:\w+ )?system prompt

== secrecy: tell, mention, inform, reveal, disclos, let, alert, notify
\b(?:do not|don't|never|must not|should not|avoid) (?:tell|mention|inform|reveal|disclose|let|alert
|notify)(?:ing)? (?:(?:this|it|that|anything|any of this|about this|these
|the)(?: (?:instructions?|message|text|note
|prompt|comment|change|command|step|fact|section|rule))? )?(?:to )?{PERSON}\b
(?! (?:ids?|data|names?|tables?|models?|emails?)\b)|\bnever mention (?:this|these|that|it)\b

== secrecy: keep, hide, not know, not notice, not see, not find out, not be told
\b(?:keep|hide) (?:this|it|that|these|everything)(?: \w+)? (?:secret|hidden|confidential|between us
|from {PERSON})\b|\b{PERSON} (?:must|should|may) not (?:know|notice|see|find out|be told)\b

== secrecy (denied): without
\bwithout (?:asking|telling|informing|notifying|prompting|consulting|alerting)\b
|\bwithout (?:(?:the|your|any|explicit|prior|further|their|human|user|users|user's) )*
(?:confirmation|consent|approval|permission)\b|\bwithout (?:their|his|her|{PERSON}(?:'s?)?)
 (?:knowledge|knowing|noticing)\b

== secrecy (denied): secretly, silently, covertly, quietly, stealthily
\b(?:secretly|silently|covertly|quietly|stealthily) (?:send|run|execute|install|add|delete|remove
|upload|copy|post|commit|push|forward|include|insert|append|download|open|read|write|change
|modify)\b

== exfiltration (denied): http, ftp:, @, attacker, remote, external, webhook, following
\b(?:send|post|upload|forward|transmit|exfiltrate|leak|e?mail|copy|submit|push|append|encode)
 (?:\S+ ){0,10}?\S{0,20}(?<!\w){VALUABLE}(?!\w)(?:(?!header)[^\n]){0,80}? (?:to|at|via|into
|as part of)
 (?:\S+ ){0,3}?{OUTSIDE}

== exfiltration (denied): paste your, enter your, provide your, send me, give me your, submit your
\b(?:paste|enter|provide|submit|send(?: me)?|give me|share|type) your (?:\w+ )?(?:api[ _-]?keys?
|passwords?
|tokens?|credentials?|secrets?|private keys?)\b[^.\n]{0,40}(?:\bhere\b|\bat\b|\binto\b
|\bto (?:continue
|proceed|verify)\b|http)

== exfiltration (denied): value of, values of, contents of, content of
\b(?:include|put|write|embed|add|insert|append|send|post|echo|print|log|encode
|paste) (?:\S+ ){0,3}?
values? of (?:\S+ ){0,2}?\S{0,40}(?:secret|token|passw|api_?key|credential|private)
|\bcontents? of (?:\S+ ){0,2}?\S{0,60}(?:{KEYFILE}|/etc/passwd|/\.env\b|(?<!\S)\.env\b)

== exfiltration (denied): http
https?://\S{1,200}[?&]\w{1,40}=(?:<|\{|%3c)[^>}\n]{0,60}(?:contents?|secret|env|token|password|key
|conversation|history|transcript|file)

== exfiltration (denied): authorized_keys
\b(?:add|append|write|put|copy|insert|install) (?:\S+ ){0,10}?\S{0,60}authorized_keys\b

== exfiltration (denied): them to, it to, these to, those to, as it says, what it says
\b{VALUABLE}(?!\w)[^.\n]{0,60}\b(?:send|e?mail|post|upload|forward) (?:them|it|these|those|all) to
 {OUTSIDE}|https?://\S+ and (?:\w+ )?(?:do|follow|obey|run|execute) (?:exactly )?(?:as|what
|whatever) it

== exfiltration (denied): exfiltrat
\bexfiltrate (?:(?:the|all|any|your|every) )?\w+

== exfiltration (denied): environment, env vars
\b(?:print|dump|show|output|list|send|echo|reveal|include|paste|post|upload
|read) (?:out )?(?:(?:all
|the|your|every|any|of) )*(?:environment variables|env vars|process environment)\b[^.\n]{0,60}?
\b(?:to|in|into|with|here|back)\b

== exfiltration (denied): ssh, id_, .aws, netrc, kube, docker/config, pgpass, shadow, gnupg
== keychain, wallet
\b{TAKE} (?:\S+ ){0,8}?\S{0,60}{KEYFILE}

== exfiltration (denied): .env
\b(?:cat|print|dump|output|paste|send|reveal|upload|type|display|attach|post|share|leak|base64|scp)
 (?:\S+ ){0,5}?(?:\S{0,60}/|["'(])?\.env\b(?!\.?(?:example|sample|template|dist|ironment))

== standing-order: from now on, from this point, henceforth, going forward, future
\b(?:from now on|from this point (?:on|onwards?|forwards?)|henceforth
|going forward)\b[, ]+(?:trust|you\b|always|never|respond|reply
|answer|whenever|do not|don't|treat|obey|act|the (?:ai|assistant|agent|model)\b)
|\byou (?:must|will|should|shall|are to) (?:\S+ ){0,6}?from now on\b
|\b(?:in|for|during) (?:all|every|each|any) (?:of your )?future (?:sessions?|conversations?
|responses?|tasks?|chats?|replies|interactions?|requests?)\b

== standing-order: answer, response, reply, replies, output
\byour (?:next |final |every )?(?:answers?|responses?|repl(?:y|ies)|output) (?:must|should|shall
|has to)\b
|\bin every (?:one of your )?(?:answer|response|reply|message)\b|\b(?:respond|reply
|answer) only with\b

== standing-order: recommend, promote, advertise, suggest
\b(?:always|only) (?:recommend|promote|advertise|suggest) [^.\n]{0,60}\b(?:to (?:the |all )?users?
|products?|services?|website|domain|company)\b

== standing-order: must, always, never, shall, required
\b{NAMED} (?:(?:that|which|who|working|reading|using|on|in|this|here) (?:\S+ ){0,5}?)?(?:must|shall
|always|never|(?:are|is) required to)\b

== addressed: note, message, instruction, attention, notice, important, hint, reminder, request
== order, directive
\b(?:notes?|messages?|instructions?|attention|notice|important|hints?|reminder|requests?|orders?
|directives?) (?:to|for) (?:(?:all|any|the|every|other) )*{AI}\b(?= ?[:,!\-\n]| ?\Z
| (?:who|that|reading|working|processing|in this|on this|only|using))

== addressed: if you, when you, once you, after you, dear, hey, hello, attention, listen, this
== as an, to the, to all
== to any, instructed, ordered, commanded, directed, asked, agent, assistant, claude, copilot
== codex
== gemini, chatgpt, ai:, ai,, llm
\bif you(?: are|'re) (?:(?:an?|the|any) )?(?:{AI}|automated|autonomous)\b
|\b(?:dear|hey|hello|attention|listen(?: up)?)[, ]+{AI}\b(?= ?[:,!\-\n]| (?:please|you|this|i)\b)
|\b(?:ais?|llms?|language models?|assistants?|agents?|claude|copilot|chatgpt) (?:(?:who|that) (?:is
|are) )?(?:reading|processing|parsing|analy[sz]ing|summari[sz]ing) this\b
|\bas an (?:ai|llm)(?: \w+){0,2},? (?:you|your)\b
|\bto (?:the|all|any) (?:ai|llm|assistant|agent|model)s? ?:
|\bif (?:an?|any|the) (?:ai|llm|assistant|agent|language model|bot)s? (?:is|are) (?:reading
|processing)\b
|\b(?:assistants?|ais?|llms?|models?|agents?) (?:is|are) (?:hereby )?(?:instructed|ordered
|commanded
|directed|asked) to\b
|(?:^|[.!?\n] ?)(?:(?:ai|coding) )?(?:agents?|assistants?|claude|copilot|codex|gemini|chatgpt|ai
|llms?)
 ?[,:] (?:always|never|please|you\b|do not|don't|must|run|send|add|include|open|ignore|approve
|skip)
|\b(?:when|once|after|if) you(?:'ve| have)? (?:read|see|find|process|parse) this\b

== memory: memory, .md, rules, persist, memoris, memoriz, notes, knowledge, instructions, config
\b(?:remember|memori[sz]e|save|store|add|write|append|record|persist|put|insert|commit
|copy) (?:this
|that|these|those|it|the following|(?:the|a|an) (?:line|rule|sentence|text|instruction|note|fact
|entry)s?|["'“«])[^\n]{0,120}?\b(?:to|in|into|inside) (?:(?:the|your|my|its|long[- ]term|permanent
|persistent|project's) )*(?:[\w.~-]*/)*{NOTES}
|\b(?:save|store|write|commit|add)(?: \S+){0,6} (?:to|in|into) (?:your|long[- ]term|permanent)
 (?:\w+ )?memory\b|\bupdate your (?:\w+ )?memory\b|\bmake an? (?:\w+ )?(?:note|entry) in (?:the 
|your )?{FILES}|\b(?:persist|memori[sz]e) (?:the following
|permanently|forever)\b
|\b(?:save|store|write|add|put) (?:this|that|these|it|the following) (?:to|in|into) your (?:notes
|rules
|knowledge|instructions|config)
|\b(?:update|edit|modify|change|rewrite|overwrite) (?:the |your )?(?:[\w.~-]*/)*{FILES} (?:so that
|to (?:always|never|say|include|skip|allow|ignore|trust|disable|make))\b
|\b(?:write|append|add|save|put) (?:to|into|in) (?:the |your )?(?:[\w.~-]*/)*{FILES} ?[:“"]

== memory: remember, memoris, memoriz
\b(?:remember|memori[sz]e) (?:this|that|the following|these)(?: \w+){0,3} (?:for (?:all|every|the
|any
|later|future)|in (?:all|every|future)|forever|permanently|across sessions)\b

== execution (denied): decode, decrypt, unpack, deobfuscate
\b(?:decode|decrypt|unpack|deobfuscate) (?:\S+ ){0,8}?(?:and|then)(?: then)? (?:run|execute|eval
|evaluate|follow|obey)\b

== execution (denied): immediately, right now, at once, as root, anything else, everything else
\b(?:run|execute|paste|enter) (?:the following|this|these)(?: \w+){0,3} (?:immediately|right now
|at once|as root|before (?:anything|everything) else)\b

== unsafe (denied): skip, suppress, auto-approve, auto-accept, accept all, approve all
\b(?:skip|suppress|auto-?approve|auto-?accept|accept|approve) (?:(?:all|any|the|every|of|your) )+
(?:permission|approval|confirmation|safety|security)s? (?:prompts?|checks?|dialogs?|requests?
|reviews?)\b

== unsafe (denied): disable, turn off, switch off, deactivate, bypass, circumvent
\b(?:disable|turn off|switch off|deactivate|bypass|circumvent) (?:(?:all|any|the|your|every|of) )*
(?:safety|security|sandbox(?:ing)?|guardrails?|permissions?|content filters?|approvals?|antivirus
|firewall|(?:tls|ssl|certificates?|signatures?)(?: certificate)? (?:verification|checks?|checking
|validation))\b
"""
SHAPES = shapes(TABLE, PARTS)
