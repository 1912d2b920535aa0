import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { fillProject } from '../../../../test/contents.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { Developer } from '../../../lib/levels.ts'

async function filled(forge: TestForge) {
  const project = await forge.project()
  const dir = await fillProject(
    forge,
    project.id,
    {
      message: 'first',
      files: {
        'a.txt': 'a\n',
        'run.sh': { mode: '100755', content: 'run\n' },
        link: { mode: '120000', content: 'a.txt' },
        vendor: { mode: '160000', content: '1'.repeat(40) },
        'dir/x.txt': 'x\n',
        'dir/y.txt': 'y\n',
      },
    },
    { branch: 'other', from: 'refs/heads/master', files: { 'o.txt': 'o\n' } },
  )
  const git = (...args: string[]) => runGit([`--git-dir=${dir}`, ...args])
  const developer = await forge.user({ name: 'Dev' })
  await addMember(forge, { project_id: project.id }, developer.id, Developer)
  return { project, git, developer, url: `/projects/${project.id}/repository/commits` }
}

const request = (actions: unknown, more: Record<string, unknown> = {}) => ({
  branch: 'master',
  commit_message: 'changes',
  actions,
  ...more,
})

test('one commit of many actions, each upon what those before it left', async () => {
  await using forge = await startForge()
  const { project, git, developer, url } = await filled(forge)
  const before = await git('rev-parse', 'master')
  const { status, body } = await developer.post(
    url,
    request([
      { action: 'create', file_path: '/new/./deep/../n.txt', content: 'n\r\n' },
      { action: 'update', file_path: 'new/n.txt', content: 'N\n' },
      { action: 'create', file_path: 'tool', content: 'x', execute_filemode: true },
      { action: 'move', previous_path: 'run.sh', file_path: 'bin/run.sh' },
      { action: 'chmod', file_path: 'a.txt', execute_filemode: true },
      { action: 'create', file_path: 'fleeting', content: 'x' },
      { action: 'delete', file_path: 'fleeting' },
      // A file can replace a folder once the folder is empty.
      { action: 'delete', file_path: 'dir/x.txt' },
      { action: 'delete', file_path: 'dir/y.txt' },
      { action: 'create', file_path: 'dir', content: 'file\n' },
      { action: 'move', previous_path: 'link', file_path: 'way', content: 'tool' },
      { action: 'create_dir', file_path: 'empty' },
      { action: 'create', file_path: 'bytes', content: 'AP8=', encoding: 'base64' },
    ]),
  )
  expect(status).toBe(201)
  expect(body).toMatchObject({
    id: await git('rev-parse', 'master'),
    parent_ids: [before],
    title: 'changes',
    author_name: 'Dev',
    committer_email: developer.email,
    project_id: project.id,
    stats: { additions: 4, deletions: 3, total: 7 },
    status: null,
    last_pipeline: null,
  })
  expect(await git('show', '--format=', '--shortstat', 'master')).toContain('4 insertions(+), 3 deletions(-)')
  const tree = await git('ls-tree', '-r', '--format=%(objectmode) %(path)', 'master')
  expect(tree.split('\n')).toEqual([
    '100755 a.txt',
    '100755 bin/run.sh',
    '100644 bytes',
    '100644 dir',
    '100644 empty/.gitkeep',
    '100644 new/n.txt',
    '100755 tool',
    '160000 vendor',
    '120000 way',
  ])
  expect(await git('show', 'master:new/n.txt')).toBe('N')
  expect(await git('show', 'master:bin/run.sh')).toBe('run')
  expect(await git('show', 'master:way')).toBe('tool')
  expect(await git('cat-file', '-s', 'master:bytes')).toBe('2')
  expect((await forge.events()).filter((name) => name === 'repository.changed')).toHaveLength(1)
  await git('fsck', '--strict')
})

test('a branch begins where it is told to, and anew by force', async () => {
  await using forge = await startForge()
  const { git, developer, url } = await filled(forge)
  const actions = [{ action: 'create', file_path: 'n', content: '' }]

  const made = await developer.post(url, request(actions, { branch: 'topic/1', start_branch: 'other', stats: false }))
  expect(made.body).toMatchObject({ parent_ids: [await git('rev-parse', 'other')] })
  expect(made.body).not.toHaveProperty('stats')
  const start_sha = await git('rev-parse', 'master')
  const bySha = await developer.post(url, request(actions, { branch: 'topic/2', start_sha: start_sha.slice(0, 12) }))
  expect(bySha.body.parent_ids).toEqual([start_sha])
  const forced = await developer.post(url, request(actions, { branch: 'topic/1', start_branch: 'master', force: true }))
  expect(forced.body.parent_ids).toEqual([start_sha])
  expect(await git('rev-parse', 'topic/1')).toBe(forced.body.id)
  // The same content still creates a commit.
  const same = await developer.post(url, request([{ action: 'update', file_path: 'a.txt', content: 'a\n' }]))
  expect(same.status).toBe(201)
})

test('actions come in forms as well', async () => {
  await using forge = await startForge()
  const { git, developer, url } = await filled(forge)
  const form = new FormData()
  const fields = {
    branch: 'master',
    commit_message: 'm',
    'actions[][action]': 'create',
    'actions[][file_path]': 'f',
    'actions[][content]': 'form',
  }
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  expect((await developer.post(url, form)).status).toBe(201)
  expect(await git('show', 'master:f')).toBe('form')
})

const create = (file_path: string) => ({ action: 'create', file_path, content: 'x' })
const ON_NO_BRANCH = 'You can only create or edit files when you are on a branch'
const EXISTS = 'A file with this name already exists'
const MISSING = "A file with this name doesn't exist"

test.each([
  ['a protected branch', request([create('n')], { branch: 'stable' }), 'You are not allowed to push into this branch'],
  ['no such start', request([create('n')], { branch: 'new', start_branch: 'nowhere' }), ON_NO_BRANCH],
  ['no such start commit', request([create('n')], { branch: 'new', start_sha: '1'.repeat(40) }), ON_NO_BRANCH],
  ['another project', request([create('n')], { start_project: '1000' }), ON_NO_BRANCH],
  ['no such branch', request([create('n')], { branch: 'nowhere' }), ON_NO_BRANCH],
  [
    'a branch that is there',
    request([create('n')], { branch: 'other', start_branch: 'master' }),
    "A branch called 'other' already exists. Switch to that branch in order to make changes",
  ],
  [
    'a bad name',
    request([create('n')], { branch: 'a..b', start_branch: 'master' }),
    "Something went wrong when we tried to create 'a..b' for you: Branch name is invalid",
  ],
  [
    'a name like an id',
    request([create('n')], { branch: 'a'.repeat(40), start_branch: 'master' }),
    'You cannot create a branch with a SHA-1 or SHA-256 branch name.',
  ],
  ['an unknown action', request([create('a.txt'), { action: 'steal', file_path: 'n' }]), "Unknown action 'steal'"],
  ['an action of all objects', request([{ action: 'toString', file_path: 'n' }]), "Unknown action 'toString'"],
  ['a file that is there', request([create('n'), create('a.txt')]), EXISTS],
  ['a file made before', request([create('n'), create('n')]), EXISTS],
  ['a file below a file', request([create('a.txt/n')]), EXISTS],
  ['a submodule', request([create('vendor')]), EXISTS],
  ['a folder', request([create('dir')]), 'A directory with this name already exists'],
  [
    'a folder that is not yet empty',
    request([{ action: 'delete', file_path: 'dir/x.txt' }, create('dir')]),
    'A directory with this name already exists',
  ],
  ['moving onto a file', request([{ action: 'move', previous_path: 'run.sh', file_path: 'a.txt' }]), EXISTS],
  ['moving nothing', request([{ action: 'move', previous_path: 'none', file_path: 'n' }]), MISSING],
  ['changing nothing', request([{ action: 'update', file_path: 'none', content: '' }]), MISSING],
  [
    'deleting twice',
    request([
      { action: 'delete', file_path: 'a.txt' },
      { action: 'delete', file_path: 'a.txt' },
    ]),
    MISSING,
  ],
  ['no path', request([{ action: 'create', content: 'x' }]), 'You must provide a file path'],
  ['a blank path', request([create(' / ')]), 'You must provide a file path'],
  ['no content', request([{ action: 'create', file_path: 'n' }]), 'You must provide content'],
  ['a way out', request([create('n/../../etc')]), 'Path cannot include directory traversal'],
  ['the repository’s own folder', request([create('.GIT/config')]), 'Path is not valid'],
  ['a path too long', request([create('d/'.repeat(3000) + 'f')]), 'Path is not valid'],
  [
    'a file changed meanwhile',
    request([{ action: 'update', file_path: 'a.txt', content: '', last_commit_id: '1'.repeat(40) }]),
    'The file has changed since you started editing it: a.txt',
  ],
  ['no actions', request([]), 'actions is empty'],
  ['actions that are none', request([1]), 'actions is invalid'],
  ['an action without a verb', request([create('n'), {}]), '400 (Bad request) actions[1][action] not given'],
  [
    'an encoding nobody knows',
    request([{ ...create('n'), encoding: 'hex' }]),
    'actions[0][encoding] does not have a valid value',
  ],
  [
    'a mode that is not named',
    request([{ action: 'chmod', file_path: 'a.txt' }]),
    '400 (Bad request) actions[0][execute_filemode] not given',
  ],
  [
    'a message too long',
    request([create('n')], { commit_message: 'x'.repeat(65_537) }),
    'Commit message is too long (maximum is 65536 characters)',
  ],
  ['a push rule', request([create('n')], { commit_message: 'wip' }), "Commit message does not follow the pattern '^c'"],
] as const)('%s is refused and moves nothing', async (what, input, message) => {
  await using forge = await startForge()
  const { project, git, developer, url } = await filled(forge)
  await forge.administrator.post(`/projects/${project.id}/protected_branches`, { name: 'stable' })
  if (what === 'a push rule')
    await forge.administrator.post(`/projects/${project.id}/push_rule`, { commit_message_regex: '^c' })
  const before = [await git('for-each-ref'), await forge.events()]
  const answer = await developer.post(url, input)
  expect([answer.status, answer.body.message]).toEqual([400, message])
  expect([await git('for-each-ref'), await forge.events()]).toEqual(before)
})

test('of those who write at once, nobody’s commit is lost', async () => {
  await using forge = await startForge()
  const { git, developer, url } = await filled(forge)
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, n) => developer.post(url, request([create(`n${n}`)]))),
  )
  const made = answers.filter(({ status }) => status === 201)
  for (const { status, body } of answers.filter((answer) => !made.includes(answer))) {
    expect([status, body.message]).toEqual([400, 'Could not update branch master. Please refresh and try again.'])
  }
  expect(made.length).toBeGreaterThan(0)
  expect(await git('rev-list', '--count', 'master')).toBe(String(1 + made.length))
})

test('a submodule stands for another commit', async () => {
  await using forge = await startForge()
  const { project, git, developer } = await filled(forge)
  const url = `/projects/${project.id}/repository/submodules`
  const commit_sha = '2'.repeat(40)
  const { status, body } = await developer.put(`${url}/vendor`, { branch: 'master', commit_sha })
  expect(status).toBe(200)
  expect(body).toMatchObject({ title: `Update submodule vendor with oid ${commit_sha}`, project_id: project.id })
  expect(await git('rev-parse', 'master:vendor')).toBe(commit_sha)

  const before = [await git('for-each-ref'), await forge.events()]
  for (const [path, input, message] of [
    ['vendor', { commit_sha }, `The submodule vendor is already at ${commit_sha}`],
    ['a.txt', {}, 'Invalid submodule path'],
    ['none', {}, 'Invalid submodule path'],
    ['vendor', { branch: 'nowhere' }, ON_NO_BRANCH],
    ['vendor', { commit_sha: 'master' }, 'commit_sha is invalid'],
  ] as const) {
    const request = { branch: 'master', commit_sha: '3'.repeat(40), ...input }
    const answer = await developer.put(`${url}/${path}`, request)
    expect([answer.status, answer.body.message]).toEqual([400, message])
  }
  expect([await git('for-each-ref'), await forge.events()]).toEqual(before)
})
