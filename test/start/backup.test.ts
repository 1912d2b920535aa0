/** The commands of backup and restore, as an operator uses them. */
import { existsSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testDatabaseUrl } from '../../src/config.ts'
import { postgresDatabase } from '../../src/store/temporary.ts'
import { Child, run, temporaryFolder, until } from './command.ts'

const TOKEN = 'a-root-token-of-tests'
const server = testDatabaseUrl()

/** A data folder, and the database that belongs to it. */
async function place(folder: string, name: string) {
  const database = server === undefined ? null : await postgresDatabase(server)
  return {
    data: join(folder, name),
    settings: { MORTISE_DATA: join(folder, name), ...(database && { MORTISE_DATABASE_URL: database.url }) },
    [Symbol.asyncDispose]: async () => database?.drop(),
  }
}

async function api<T = unknown>(url: string, method: string, path: string): Promise<T> {
  const answer = await fetch(`${url}/api/v4${path}`, { method, headers: { 'PRIVATE-TOKEN': TOKEN } })
  return (await answer.json()) as T
}

interface Backup {
  readonly state: string
  readonly current_at: string
}

interface Issue {
  readonly id: number
  readonly title: string
}

test('the server keeps its backup up to date and proves it; the machine is lost and restored', async () => {
  await using folder = await temporaryFolder()
  await using first = await place(folder.path, 'first')
  const backup = join(folder.path, 'backup')
  const start = { MORTISE_PORT: '0', MORTISE_ROOT_TOKEN: TOKEN }
  const lost = new Child(['serve'], { ...start, ...first.settings, MORTISE_BACKUP_URL: backup })
  const url = await lost.url()
  await api(url, 'POST', '/projects?name=one&initialize_with_readme=true')
  const issue = await api<Issue>(url, 'POST', '/projects/1/issues?title=Before')
  await until(async () => (await api<Backup>(url, 'GET', '/application/backup')).state === 'ok')
  if (server === undefined) {
    await api(url, 'POST', '/projects/1/issues?title=After')
    const since = new Date().toISOString()
    await until(async () => (await api<Backup>(url, 'GET', '/application/backup')).current_at > since)
  }
  const headers = { 'PRIVATE-TOKEN': TOKEN, accept: 'text/html' }
  const metrics = await (await fetch(`${url}/-/metrics`, { headers })).text()
  expect(metrics).toMatch(/^mortise_backup_age_seconds\{of="backup"\} \d/m)
  expect(metrics).toMatch(/^mortise_backup_age_seconds\{of="proof"\} \d/m)
  expect(await (await fetch(`${url}/admin`, { headers })).text()).toContain('Restore last proven')
  // SQLite loses nothing by a kill; the last moment of PostgreSQL is captured when the server stops.
  if (server !== undefined) {
    lost.process.kill('SIGTERM')
    await lost.ended()
  }
  await lost[Symbol.asyncDispose]()

  const key = (await readFile(join(first.data, 'secret.key'), 'utf8')).trim()
  await using second = await place(folder.path, 'second')
  const restored = await run(['restore', backup], { ...second.settings, MORTISE_SECRET_KEY: key })
  expect(restored).toMatchObject({ code: 0, stderr: '' })
  expect(restored.stdout).toMatch(
    /^restored \S+Z to \S+second: \d+ rows, 1 repository with \d+ refs?, 0 files, no errors\n$/,
  )
  await using again = new Child(['serve'], { ...start, ...second.settings })
  const issues = await api<Issue[]>(await again.url(), 'GET', '/projects/1/issues?sort=asc')
  expect(issues[0]).toMatchObject({ id: issue.id, title: 'Before' })
  expect(issues).toHaveLength(server === undefined ? 2 : 1)
})

test('a killed backup leaves no moment, and the next one goes on; --every ends with SIGTERM', async () => {
  await using folder = await temporaryFolder()
  await using instance = await place(folder.path, 'data')
  const { settings } = instance
  await using served = new Child(['serve'], { ...settings, MORTISE_PORT: '0', MORTISE_ROOT_TOKEN: TOKEN })
  const url = await served.url()
  for (const name of ['one', 'two', 'three'])
    await api(url, 'POST', `/projects?name=${name}&initialize_with_readme=true`)
  const backup = join(folder.path, 'backup')
  const killed = new Child(['backup', backup], settings)
  await until(async () => (await readdir(join(backup, 'objects')).catch(() => [])).length > 3)
  await killed[Symbol.asyncDispose]()

  const kept = new Child(['backup', backup, '--every', '1s'], settings)
  await until(() => kept.stdout.includes('keep it in another place'))
  await api(url, 'POST', '/projects/1/issues?title=Late')
  kept.process.kill('SIGTERM')
  expect(await kept.ended()).toBe(0)
  const proven = await run(['backup', 'verify', backup], settings)
  expect(proven).toMatchObject({ code: 0, stderr: '' })
  expect(proven.stdout).toMatch(/3 repositories with \d+ refs, 0 files, no errors\n$/)
})

test('one of two servers makes the backup, and the other takes over after a kill', async () => {
  await using folder = await temporaryFolder()
  await using instance = await place(folder.path, 'data')
  const backup = join(folder.path, 'backup')
  const settings = { ...instance.settings, MORTISE_PORT: '0', MORTISE_ROOT_TOKEN: TOKEN, MORTISE_BACKUP_URL: backup }
  const manifests = async () => (await readdir(backup)).filter((name) => name.startsWith('manifest-'))
  await using first = new Child(['serve'], { ...settings, MORTISE_BACKUP_VERIFY: 'off' })
  const url = await first.url()
  await until(async () => (await api<Backup>(url, 'GET', '/application/backup')).state === 'ok')
  const before = await manifests()

  await using second = new Child(['serve'], { ...settings, MORTISE_BACKUP_VERIFY: 'off' })
  await second.url()
  const messages = () => second.lines.logged.filter(({ part }) => part === 'backup').map(({ msg }) => msg)
  await until(() => messages().length > 0)
  expect(messages()).toEqual(['another process makes the backup; waiting for its end'])
  const manual = await run(['backup', backup], instance.settings)
  expect(manual).toMatchObject({ code: 1, stdout: '' })
  expect(manual.stderr).toContain('another process is writing to')
  const pruned = await run(['backup', 'prune', backup, '--keep', '1'], instance.settings)
  expect(pruned).toMatchObject({ code: 1, stdout: '' })
  expect(await manifests()).toEqual(before)

  first.process.kill('SIGKILL')
  await until(() => messages().includes('this server makes the backup from now on'))
  await until(async () => (await manifests()).length > before.length)
  await second[Symbol.asyncDispose]()
  await using restored = await place(folder.path, 'restored')
  const key = (await readFile(join(instance.data, 'secret.key'), 'utf8')).trim()
  expect(await run(['restore', backup], { ...restored.settings, MORTISE_SECRET_KEY: key })).toMatchObject({ code: 0 })
})

test.each([
  [['backup'], 'DEST missing, see mortise backup --help', 2],
  [['backup', 'x', '--every', 'often'], '--every must look like 10s, 5m or 1h', 2],
  [['backup', 'backup-of-nothing'], 'holds no instance', 1],
  [['restore', '/nonexistent'], '/nonexistent holds no backup', 1],
  [['restore', 'x', '--at', 'yesterday'], '--at must be a time with its zone, such as 2026-11-20T09:30:00Z', 2],
  [['restore', 'x', '--as', 'a/b'], '--as needs --only', 2],
  [['restore', '/nonexistent', '--only', 'a/b'], '/nonexistent holds no backup', 1],
  [['backup', 'verify', '/nonexistent'], '/nonexistent holds no backup', 1],
  [['backup', 'prune', 'x'], '--keep is required', 2],
])('mortise %j is refused in one line', async (args, line, code) => {
  await using folder = await temporaryFolder()
  const outcome = await run(args as string[], { MORTISE_DATA: join(folder.path, 'data') })
  expect(outcome).toMatchObject({ code, stdout: '' })
  expect(outcome.stderr).toContain(line as string)
  expect(outcome.stderr.trimEnd().split('\n')).toHaveLength(1)
  expect(await readdir(folder.path)).toEqual([])
  expect(existsSync('backup-of-nothing')).toBe(false)
})
