/** What a fixture contains: calls that fill an instance, and reads whose answers must survive an upgrade. */

export const TOKEN = 'upgrade-root-token-0123456789'

const PROJECT = '/projects/tools%2Fapp'

export interface Call {
  readonly path: string
  readonly body: Record<string, unknown>
}

/** The ids of earlier answers are the same in every new instance. A version that lacks an endpoint answers 404. */
export const CALLS: readonly Call[] = [
  {
    path: '/users',
    body: {
      username: 'ann',
      name: 'Ann',
      email: 'ann@example.com',
      password: 'a long phrase',
      skip_confirmation: true,
    },
  },
  { path: '/groups', body: { name: 'Tools', path: 'tools', visibility: 'public' } },
  { path: '/projects', body: { name: 'App', path: 'app', visibility: 'public', initialize_with_readme: true } },
  { path: `${PROJECT}/members`, body: { user_id: 'ann', access_level: 30 } },
  { path: `${PROJECT}/repository/branches`, body: { branch: 'topic', ref: 'HEAD' } },
  {
    path: `${PROJECT}/repository/files/b.txt`,
    body: { branch: 'topic', content: 'one\n', commit_message: 'Add a file' },
  },
  { path: `${PROJECT}/repository/tags`, body: { tag_name: 'v1.0', ref: 'topic' } },
  { path: `${PROJECT}/releases`, body: { tag_name: 'v1.0', name: 'One', description: 'The first one' } },
  { path: `${PROJECT}/protected_branches`, body: { name: 'stable-*' } },
  { path: `${PROJECT}/hooks`, body: { url: 'https://hooks.example.com/push', push_events: true } },
  { path: `${PROJECT}/repository/commits/topic/comments`, body: { note: 'A comment on the commit' } },
  { path: `${PROJECT}/statuses/topic`, body: { state: 'success', name: 'tool' } },
  { path: `${PROJECT}/labels`, body: { name: 'bug', color: '#ff0000' } },
  { path: `${PROJECT}/milestones`, body: { title: 'First milestone' } },
  { path: `${PROJECT}/issues`, body: { title: 'First issue', description: 'Some words', labels: 'bug' } },
  { path: `${PROJECT}/issues/1/notes`, body: { body: 'A note on the issue' } },
  {
    path: `${PROJECT}/snippets`,
    body: { title: 'First snippet', visibility: 'public', files: [{ file_path: 'a.txt', content: 'x' }] },
  },
  {
    path: `${PROJECT}/merge_requests`,
    body: { source_branch: 'topic', target_branch: 'HEAD', title: 'First merge request' },
  },
  { path: `${PROJECT}/merge_requests/1/notes`, body: { body: 'A note on the merge request' } },
  { path: `${PROJECT}/variables`, body: { key: 'PLACE', value: 'here' } },
]

/** The fields that are compared, by path. */
export const READS: Readonly<Record<string, readonly string[]>> = {
  '/users': ['id', 'username', 'email'],
  '/groups': ['id', 'full_path'],
  '/projects': ['id', 'path_with_namespace'],
  [`${PROJECT}/members`]: ['id', 'access_level'],
  [`${PROJECT}/repository/branches`]: ['name'],
  [`${PROJECT}/repository/commits?ref_name=topic`]: ['id', 'title'],
  [`${PROJECT}/repository/commits/topic/comments`]: ['note'],
  [`${PROJECT}/repository/commits/topic/statuses`]: ['name', 'status'],
  [`${PROJECT}/repository/tags`]: ['name'],
  [`${PROJECT}/releases`]: ['tag_name', 'name', 'description'],
  [`${PROJECT}/protected_branches`]: ['name'],
  [`${PROJECT}/hooks`]: ['url', 'push_events'],
  [`${PROJECT}/labels`]: ['name', 'color'],
  [`${PROJECT}/milestones`]: ['iid', 'title'],
  [`${PROJECT}/issues`]: ['id', 'iid', 'title', 'description', 'labels', 'user_notes_count'],
  [`${PROJECT}/issues?search=words`]: ['iid'],
  [`${PROJECT}/issues/1/notes`]: ['body'],
  [`${PROJECT}/snippets`]: ['title'],
  [`${PROJECT}/merge_requests`]: ['id', 'iid', 'title', 'sha', 'user_notes_count'],
  [`${PROJECT}/merge_requests/1/notes`]: ['body'],
  [`${PROJECT}/variables`]: ['key', 'value'],
}

export type Answers = Record<string, unknown[]>

/** The answers to all reads that the version knows. */
export async function readAll(api: string): Promise<Answers> {
  const answers: Answers = {}
  for (const [path, fields] of Object.entries(READS)) {
    const answer = await fetch(`${api}${path}`, { headers: { 'Private-Token': TOKEN } })
    if (answer.status === 404) continue
    const rows = (await answer.json()) as Record<string, unknown>[]
    answers[path] = rows.map((row) => Object.fromEntries(fields.map((field) => [field, row[field]])))
  }
  return answers
}
