"""The texts that ordinary work is put together from; `<noun>` and the like are filled in."""

from __future__ import annotations

SOME_NOUNS = """
account address archive basket batch bill booking branch bucket calendar campaign carrier catalog
channel claim client column contract coupon courier customer delivery deposit device digest
document driver export feed folder gateway header import invoice item journal ledger letter license
listing location manifest market member menu message metric notice offer order packet page parcel
partner payment period permit photo pickup plan policy price product profile quota quote rate
receipt record region rental report review reward role route rule sample schedule segment sensor
shipment signal stock store subject supplier survey table ticket tour trace transfer tray trip user
vendor visit voucher wallet warehouse window worker zone
"""
SOME_VERBS = """
apply assign build cancel charge check clean close collect combine compare compute copy count
create decode deliver describe drain encode expand fetch filter find flush format group handle
index insert join limit list load lock map mark match measure merge move notify open order pack
parse pick plan post print pull push queue read record refresh release render repair reserve
resolve retry round scan schedule select send serve sign sort split start stop store sum sync tag
track trim update upload validate verify walk watch wrap write
"""
NOUNS, VERBS = SOME_NOUNS.split(), SOME_VERBS.split()
FOLDERS = [
    "src/core",
    "src/api",
    "src/jobs",
    "pkg/store",
    "pkg/http",
    "web/views",
    "web/lib",
    "cmd",
]
BLOCKS = {
    "py": [
        '''def <verb>_<noun>(<noun>: str, limit: int = <number>) -> list[str]:
    """Give the <noun> of every open <noun>, the oldest first."""
    found = []
    for row in self.<noun>_rows(<noun>):
        if row.state == "<noun>" and len(found) < limit:
            found.append(row.name.strip())  # a <noun> is never empty here
    log.debug("<verb> <noun>: %d of %d", len(found), limit)
    return found
''',
        '''@dataclass(frozen=True)
class <noun>_<noun>:
    """What the <noun> service tells us of a <noun>; always in its own time zone."""

    <noun>: str
    <noun>_count: int = <number>
    <verb>_at: datetime | None = None

    def <verb>(self, <noun>: Mapping[str, int]) -> int:
        total = sum(<noun>.get(key, 0) for key in self.<noun>_keys)
        if total > <number>:
            raise LimitReached(f"{self.<noun>}: {total} is over the limit")
        return total
''',
        """def test_<verb>_<noun>_<number>(tmp_path: Path) -> None:
    store = open_store(tmp_path / "<noun>.db")
    store.add("<noun>", <number>, {"<noun>": <number>, "<noun>": "<verb>"})
    assert store.<verb>("<noun>") == [("<noun>", <number>)]
    assert store.<verb>("<noun>", limit=0) == []
""",
    ],
    "go": [
        """// <verb>_<noun> writes the <noun>, and does nothing if it is there.
func (s *Store) <verb>_<noun>(ctx context.Context, <noun> string, limit int) (int, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT <noun>, <noun> FROM <noun> WHERE id > $1", limit)
	if err != nil {
		return 0, fmt.Errorf("<verb> <noun>: %w", err)
	}
	defer rows.Close()
	count := 0
	for rows.Next() {
		count++
	}
	return count, rows.Err()
}
""",
        """type <noun>_<noun> struct {
	<noun>  string        `json:"<noun>"`
	<noun>  time.Duration `json:"<noun>,omitempty"`
	<verb>  func(ctx context.Context) error
	limit   int // <number> unless the settings say otherwise
}
""",
    ],
    "ts": [
        """export async function <verb>_<noun>(<noun>: string, options: <noun>_options = {}) {
  const response = await client.get(`/v2/<noun>/${<noun>}`, { timeout: <number>, ...options });
  if (!response.ok) {
    throw new RequestError(`<verb> <noun> gave ${response.status}`);
  }
  const { <noun>, <noun>_list = [] } = await response.json();
  return <noun>_list.filter((row: Row) => row.<noun> !== null).map((row: Row) => row.<noun>);
}
""",
        """export const <noun>_view = ({ <noun>, on_<verb> }: Props) => {
  const [open, set_open] = useState(false);
  useEffect(() => {
    const timer = setInterval(() => on_<verb>(<noun>.id), <number>);
    return () => clearInterval(timer);
  }, [<noun>.id]);
  return <Panel title="<noun> <noun>" open={open} onClick={() => set_open(!open)} />;
};
""",
    ],
    "sql": [
        """CREATE TABLE <noun>_<noun>_<number> (
    id BIGINT PRIMARY KEY,
    <noun>_id BIGINT REFERENCES <noun> (id),
    <noun>_count INTEGER DEFAULT <number>,
    <verb>_at TIMESTAMP
);
CREATE INDEX <noun>_<number> ON <noun>_<noun>_<number> (<noun>_id, <verb>_at);
""",
    ],
}
SUFFIXES = ["py", "py", "py", "go", "go", "ts", "ts", "sql"]
LOGGED = [
    "INFO  http: GET /v2/<noun>/<number> 200 <number>ms",
    "INFO  http: POST /v2/<noun> 201 <number>ms client=<noun>-<number>",
    "DEBUG store: <verb> <noun> took <number>us, <number> rows",
    "INFO  jobs: <verb>_<noun> finished, <number> of <number> <noun> records",
    "WARN  queue: <noun> is slow, <number> waiting",
    "INFO  cache: <noun> refreshed after <number>s",
    "DEBUG worker-<number>: picked <noun> <number> from <noun>",
]
TEST_RUN = "<noun>/test_<verb>_<noun>.py::test_<verb>_<noun>_<number> PASSED  [<number> ms]"
REMARKS = [
    "Let me look at how <noun> and <noun> work together.",
    "I'll read <file> first.",
    "The function that matters is in <file>. Next I look at who calls it.",
    "Now the tests for <noun>.",
    "That part is clear. On to <file>.",
    "The <noun> table has the column already, so only the query changes.",
    "I'll add the <noun> field and pass it on to <verb>_<noun>.",
    "Let me run the unit tests.",
    "All green. Let me look over the diff once more.",
    "<file> holds the types, <file> the queries, and <file> the views that use them. The <noun> is"
    " loaded once at the start and handed down, so the new field can go along with it.",
]
SUMMARIES = [
    "`<file>`: `<verb>_<noun>` takes the <noun> as well",
    "`<file>`: a test for an empty <noun>",
    "the <noun> page shows the <noun> beside its name",
    "`<file>`: the query for <noun> reads <number> rows at a time",
    "the <noun> job writes one log line for each <noun>",
    "`<file>`: types for the <noun> answer",
    "unit tests pass",
]
REQUESTS = [
    "add a <noun> column to the <noun> page please",
    "can you look into why the <noun> job takes so long?",
    "next: the <noun> export. It needs the <noun> and the <noun> per month",
    "what does <file> do?",
    "ok, and now the same for <noun>",
    "commit this",
    "can we have a test for <verb>_<noun> too?",
    "where do we <verb> the <noun>?",
    "looks good. Please write the migration for <noun>",
    "show me the diff",
    "how many callers does <verb>_<noun> have?",
    "the customer asks for a list of each <noun> by <noun>, sorted by date. Start with the query,"
    " then the endpoint, then a small page for it. The page can look like the one for <noun>.",
    "rename <verb>_<noun> to <verb>_<noun> in <file>",
    "thanks! now the <noun> part of the ticket",
    "please explain how <noun> and <noun> are connected",
    "can you make the log line in <file> say which <noun> it is about",
    "run the unit tests",
    "is there a page for <noun> already?",
    "write a short note on <noun> for the wiki",
    "let's do the <noun> endpoint now",
]
