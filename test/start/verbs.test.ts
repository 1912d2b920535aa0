import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { flagOf, settings, variableOf } from '../../src/config.ts'
import { listMigrations, runMigrations } from '../../src/store/history.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { VERSION } from '../../src/version.ts'
import { Child, run, temporaryFolder } from './command.ts'

const TIMEOUT = 120_000

test(
  '--help tells every verb and every setting, with its flag, variable and default',
  { timeout: TIMEOUT },
  async () => {
    const { code, stdout, stderr } = await run(['--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const verb of ['serve', 'migrate', 'user create', 'token create']) expect(stdout).toContain(`  ${verb}`)
    for (const [name, { help, shown, default: value }] of Object.entries(settings)) {
      expect(stdout).toContain(`--${flagOf(name)} VALUE`)
      expect(stdout).toContain(help)
      expect(stdout).toMatch(new RegExp(`${variableOf(name)} +default: `))
      expect(stdout).toContain(`default: ${shown ?? String(value as string | number)}`)
    }
  },
)

test('a verb and a group of verbs tell their own help, and the command its version', { timeout: TIMEOUT }, async () => {
  expect((await run(['user', 'create', '--help'])).stdout).toContain('Usage: mortise user create USERNAME [FLAGS]')
  expect((await run(['migrate', '-h'])).stdout).toContain('Usage: mortise migrate [NAME…] [FLAGS]')
  expect((await run(['user', '--help'])).stdout).toContain('user unblock USERNAME')
  expect(await run(['--version'])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: '' })
})

test.each([
  [['frobnicate'], 2, 'unknown command: frobnicate, see mortise --help'],
  [['user', 'frobnicate'], 2, 'unknown command: user frobnicate; known: user create, user list, user block'],
  [['user'], 2, 'mortise user needs a subcommand; known: user create'],
  [['serve', '--frobnicate'], 2, "Unknown option '--frobnicate'"],
  [['--port'], 2, "Option '--port <value>' argument missing"],
  [['serve', 'now'], 2, 'unexpected argument: now'],
  [['user', 'block'], 2, 'USERNAME missing, see mortise user block --help'],
  [['serve', '--port', '70000'], 1, 'MORTISE_PORT (--port) must be a number from 0 to 65535'],
  [['--log', 'loud'], 1, 'MORTISE_LOG (--log) must be one of'],
  [['--root-password', 'short77'], 1, 'MORTISE_ROOT_PASSWORD (--root-password) must have 8 to 128 characters'],
] as const)('refuses %j with one line', { timeout: TIMEOUT }, async (args, code, line) => {
  const answer = await run([...args])
  expect(answer).toEqual({ code, stdout: '', stderr: expect.stringMatching(/^mortise: [^\n]+\n$/) })
  expect(answer.stderr).toContain(line)
  expect(answer.stderr).not.toContain('short77')
})

test('migrate tells what it applied to older data, once', { timeout: TIMEOUT }, async () => {
  await using folder = await temporaryFolder()
  const MORTISE_DATA = folder.path
  const all = [...(await listMigrations(['001-foundation']))]
  const store = openSqlite(join(MORTISE_DATA, 'mortise.sqlite'), { durable: false, shared: false })
  await runMigrations(store.db, new Map(all.slice(0, 2)))
  await store.close()
  const applied = all
    .slice(2)
    .map(([name]) => `applied ${name}\n`)
    .sort()
  expect(await run(['migrate'], { MORTISE_DATA })).toMatchObject({ code: 0, stdout: applied.join('') })
  expect(await run(['migrate', '--data', MORTISE_DATA])).toEqual({
    code: 0,
    stdout: 'database is up to date\n',
    stderr: '',
  })
})

test('users are made, listed, blocked, given a password and deleted', { timeout: TIMEOUT }, async () => {
  await using folder = await temporaryFolder()
  const settings = { MORTISE_DATA: folder.path, MORTISE_ROOT_PASSWORD: 'chosen by me' }
  const user = (args: string[], input = '') => run(['user', ...args], settings, input)
  const refused = (line: string) => ({ code: 1, stdout: '', stderr: `mortise: ${line}\n` })
  await run(['migrate', '--create'], settings)

  const created = await user(['create', 'jane', '--email', 'jane@example.com'])
  expect(created.stdout).toMatch(/^created jane, id 2, password \S{16}\n$/)
  expect(created.stderr).toContain('Administrator account: root')
  expect(created.stderr).not.toContain('chosen by me')

  const taken = await user(['create', 'Jane', '--email', 'other@example.com', '--password', 'long enough'])
  expect(taken).toEqual(refused('Username has already been taken'))
  const invalid = await user(['create', 'a b', '--email', 'x', '--password', 'short'])
  expect(invalid).toMatchObject({ code: 1, stdout: '' })
  expect(invalid.stderr).toMatch(/^mortise: email is invalid, username [^\n]+, password is too short[^\n]+\n$/)

  expect((await user(['block', 'jane'])).stdout).toBe('jane is blocked\n')
  expect((await user(['block', 'jane'])).stdout).toBe('jane was already blocked\n')
  expect((await user(['list'])).stdout).toBe(
    '1\troot\tadmin@example.com\tactive\tadmin\n2\tjane\tjane@example.com\tblocked\t\n',
  )
  expect((await user(['unblock', 'jane'])).stdout).toBe('jane is active\n')
  expect((await user(['password', 'jane', '--password', '-'], 'from the input\n')).stdout).toBe(
    'the password of jane is set\n',
  )
  expect((await user(['revoke', 'jane', '--keys'])).stdout).toBe(
    'revoked for jane: the private token, 0 personal access tokens, 0 impersonation tokens, 0 oauth tokens, 0 sessions, 0 ssh keys\n',
  )
  expect(await user(['block', 'root'])).toEqual(refused('403 Forbidden'))
  expect(await user(['delete', 'root'])).toEqual(refused('403 Forbidden'))
  expect((await user(['delete', 'jane', '--hard'])).stdout).toBe('jane is deleted\n')
  expect(await user(['delete', 'jane'])).toEqual(refused('user jane not found'))
  expect((await user(['list'])).stdout).toBe('1\troot\tadmin@example.com\tactive\tadmin\n')
})

test('a token is printed once, alone, and opens the API to its user', { timeout: TIMEOUT }, async () => {
  await using folder = await temporaryFolder()
  const settings = { MORTISE_DATA: folder.path, MORTISE_PORT: '0', MORTISE_ROOT_PASSWORD: 'chosen by me' }
  await run(['migrate', '--create'], settings)
  const create = (...flags: string[]) => run(['token', 'create', '--user', 'root', '--name', 'ci', ...flags], settings)
  const refused = (code: number, line: string) => ({
    code,
    stdout: '',
    stderr: expect.stringContaining(`mortise: ${line}\n`),
  })

  const made = await create('--scopes', 'read_user, sudo', '--expires', '2999-12-31')
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\S{20,}\n$/) })
  expect(await create()).toEqual(refused(2, '--scopes is required'))
  expect(await create('--scopes', 'everything')).toEqual(refused(1, 'scopes can only contain available scopes'))
  expect(await create('--scopes', 'api', '--expires', 'soon')).toEqual(
    refused(2, '--expires must be a date, e.g. 2030-01-31'),
  )
  expect(await create('--scopes', 'api', '--user', 'nobody')).toEqual(refused(1, 'user nobody not found'))

  const rotated = await run(['token', 'rotate', '--user', 'root'], settings)
  const again = await run(['token', 'rotate', '--user', 'root'], settings)

  await using child = new Child(['serve'], settings)
  const url = await child.url()
  const shown = (token: { stdout: string }) =>
    fetch(`${url}/api/v4/user`, { headers: { 'PRIVATE-TOKEN': token.stdout.trim() } })
  expect(await (await shown(made)).json()).toMatchObject({ username: 'root' })
  expect(await (await shown(again)).json()).toMatchObject({ username: 'root' })
  expect((await shown(rotated)).status).toBe(401)
})

test.each([
  [['migrate']],
  [['check']],
  [['user', 'list']],
  [['user', 'create', 'jane', '--email', 'jane@example.com']],
  [['token', 'create', '--user', 'root', '--name', 'x', '--scopes', 'api']],
  [['secrets', 'reset']],
  [['ssh', 'keys', `SHA256:${'a'.repeat(43)}`]],
])('a mistyped folder becomes no instance by %s', { timeout: TIMEOUT }, async (words) => {
  await using folder = await temporaryFolder()
  const MORTISE_DATA = join(folder.path, 'mistyped')
  const refusal = { code: 1, stdout: '', stderr: `mortise: ${MORTISE_DATA} holds no instance\n` }
  expect(await run(words, { MORTISE_DATA })).toEqual(refusal)
  expect(await readdir(folder.path)).toEqual([])
})
