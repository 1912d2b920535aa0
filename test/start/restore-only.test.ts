/** `mortise restore --only`, as an operator uses it. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { testDatabaseUrl } from '../../src/config.ts'
import { nullIfMissing } from '../../src/lib/files/system-errors.ts'
import { postgresDatabase } from '../../src/store/temporary.ts'
import { Child, run, temporaryFolder, until } from './command.ts'

// Each attempt restores a whole database, which takes long on a busy machine.
vi.setConfig({ testTimeout: 600_000 })

const TOKEN = 'a-root-token-of-tests'
const server = testDatabaseUrl()

async function api<T = { status?: number }>(url: string, method: string, path: string): Promise<T> {
  const answer = await fetch(`${url}/api/v4${path}`, { method, headers: { 'PRIVATE-TOKEN': TOKEN } })
  return (await answer.json().catch(() => ({}))) as T
}

test('a deleted project comes back, also after a killed command, and not while the server runs', async () => {
  await using folder = await temporaryFolder()
  const database = server === undefined ? null : await postgresDatabase(server)
  await using _ = { [Symbol.asyncDispose]: async () => database?.drop() }
  const data = join(folder.path, 'data')
  const settings = { MORTISE_DATA: data, ...(database && { MORTISE_DATABASE_URL: database.url }) }
  const start = () => new Child(['serve'], { ...settings, MORTISE_PORT: '0', MORTISE_ROOT_TOKEN: TOKEN })
  const backup = join(folder.path, 'backup')
  const restore = ['restore', backup, '--only', 'root/one']
  /** Drafts may disappear while folders are listed. */
  const repositories = async () => {
    const paths = await readdir(join(data, 'repositories'), { recursive: true }).catch(nullIfMissing)
    return (paths ?? []).filter((path) => path.endsWith('.git'))
  }

  const first = start()
  const url = await first.url()
  await api(url, 'PUT', '/application/settings?deletion_adjourned_period=0')
  await api(url, 'POST', '/projects?name=one&initialize_with_readme=true')
  await api(url, 'POST', '/projects?name=two&initialize_with_readme=true')
  await api(url, 'POST', '/projects/1/issues?title=Before')
  const before = await api(url, 'GET', '/projects/1/repository/branches')
  expect(await run(['backup', backup], settings)).toMatchObject({ code: 0 })
  await api(url, 'DELETE', '/projects/1')
  await until(async () => (await repositories()).length === 1)
  await api(url, 'POST', '/projects/2/issues?title=Later')
  expect(await run(restore, settings)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'mortise: the server, or another command, uses this instance: stop it first\n',
  })
  first.process.kill('SIGTERM')
  await first.ended()
  await first[Symbol.asyncDispose]()

  const killed = new Child(restore, settings)
  await until(async () => killed.process.exitCode !== null || (await repositories()).length > 1, { every: 1 })
  await killed[Symbol.asyncDispose]()
  const second = await run(restore, settings)
  // The killed command has either restored everything or nothing.
  const all =
    'restored the project root/one as of \\S+Z: 1 project, 1 issue, 0 merge requests, 0 pipelines, \\d refs?, 0 files, no errors'
  const again = 'mortise: root/one still exists \\(project 1\\): delete it first'
  expect(second.stdout + second.stderr).toMatch(new RegExp(`^(${all}|${again})\n$`))
  expect(await readdir(data)).not.toContain('restoring')
  expect(await run(['check'], settings)).toMatchObject({ code: 0 })

  await using last = start()
  const next = await last.url()
  expect(await api(next, 'GET', '/projects/1/issues')).toMatchObject([{ title: 'Before' }])
  expect(await api(next, 'GET', '/projects/2/issues')).toMatchObject([{ title: 'Later' }])
  expect(JSON.stringify(await api(next, 'GET', '/projects/1/repository/branches'))).toBe(
    JSON.stringify(before).replaceAll(url, next),
  )
})
