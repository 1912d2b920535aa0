import { existsSync, globSync } from 'node:fs'
import { cp, mkdir, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { Child, run, temporaryFolder } from './command.ts'

const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'

interface Instance extends AsyncDisposable {
  readonly data: string
  readonly database: string
  check(...words: string[]): ReturnType<typeof run>
}

async function emptyInstance(): Promise<Instance> {
  const folder = await temporaryFolder()
  const data = join(folder.path, 'data')
  expect((await run(['migrate', '--create'], { MORTISE_DATA: data })).code).toBe(0)
  return {
    data,
    database: join(data, 'mortise.sqlite'),
    check: (...words) => run(['check', ...words], { MORTISE_DATA: data }),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

const NOTHING = '0 repositories checked, 0 with errors'

test('what killed processes left is no fault, and a repair removes it', { timeout: 180_000 }, async () => {
  await using instance = await emptyInstance()
  const { data, check } = instance
  const old = new Date(Date.now() - 2 * 86_400_000)
  const digest = 'f'.repeat(64)
  const blob = join(data, 'blobs/ff', digest.slice(2))
  const half = join(data, 'spool/upload')
  for (const file of [blob, half]) {
    await mkdir(join(file, '..'), { recursive: true })
    await writeFile(file, '')
    await utimes(file, old, old)
  }
  const young = join(data, 'spool/young')
  await writeFile(young, '')
  expect(await check()).toEqual({
    code: 0,
    stdout: [
      `blob ${digest}: leftover: no row names it`,
      `${half}: leftover: half written`,
      `${NOTHING}, 2 leftover files that --repair deletes\n`,
    ].join('\n'),
    stderr: '',
  })
  expect([blob, half, young].map((file) => existsSync(file))).toEqual([true, true, true])
  expect(await check('--repair')).toEqual({
    code: 0,
    stdout: [`blob ${digest}: repair: removed`, `${half}: repair: removed`, `${NOTHING}\n`].join('\n'),
    stderr: '',
  })
  expect([blob, half, young].map((file) => existsSync(file))).toEqual([false, false, true])
})

test('a damaged database is told in one line', { timeout: 180_000 }, async () => {
  await using instance = await emptyInstance()
  const { database, check } = instance
  await rm(`${database}-wal`, { force: true })
  const whole = await readFile(database)
  const unusable = `mortise: the database ${database} cannot be used: `
  const withoutTable = async (name: string) => {
    const store = new Database(database)
    store.exec(`drop table ${name}`)
    store.close()
  }
  const cases: [damage: () => Promise<void>, line: string][] = [
    [() => writeFile(database, 'x'.repeat(whole.length)), `${unusable}file is not a database\n`],
    [() => truncate(database, whole.length / 2), `${unusable}database disk image is malformed\n`],
    [() => withoutTable('processes'), `${unusable}no such table: processes\n`],
    [() => withoutTable('pools'), 'mortise: the database is damaged: no such table: pools\n'],
  ]
  for (const [damage, stderr] of cases) {
    await writeFile(database, whole)
    await damage()
    expect(await check()).toEqual({ code: 1, stdout: '', stderr })
  }
  await writeFile(database, whole)
  expect(await check()).toEqual({ code: 0, stdout: `${NOTHING}\n`, stderr: '' })
  const store = new Database(database)
  store.exec('begin immediate')
  const stderr = `${unusable}another process has locked the database\n`
  expect(await check()).toEqual({ code: 1, stdout: '', stderr })
  store.close()
})

test('check looks at the database, and at what it and the disk know of each other', { timeout: 180_000 }, async () => {
  await using folder = await temporaryFolder()
  const elsewhere = join(folder.path, 'elsewhere')
  expect(await run(['check'], { MORTISE_DATA: elsewhere })).toEqual({
    code: 1,
    stdout: '',
    stderr: `mortise: ${elsewhere} holds no instance\n`,
  })
  expect(existsSync(elsewhere)).toBe(false)

  const MORTISE_DATA = join(folder.path, 'data')
  {
    await using child = new Child(['serve'], { MORTISE_DATA, MORTISE_PORT: '0', MORTISE_ROOT_TOKEN })
    const api = `${await child.url()}/api/v4`
    const headers = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN }
    await fetch(`${api}/projects?path=p`, { method: 'POST', headers })
    const form = new FormData()
    form.append('file', new Blob(['content']), 'some.txt')
    expect((await fetch(`${api}/projects/1/uploads`, { method: 'POST', headers, body: form })).status).toBe(201)
    child.process.kill('SIGTERM')
    await child.ended()
  }
  const check = (...words: string[]) => run(['check', ...words], { MORTISE_DATA })
  const summary = '1 repository checked, 0 with errors\n'
  expect(await check()).toEqual({ code: 0, stdout: summary, stderr: '' })

  const [repository] = globSync('repositories/*/*/*.git', { cwd: MORTISE_DATA }) as [string]
  const stray = join('repositories/ab/cd', `abcd${'0'.repeat(36)}.git`)
  await mkdir(join(MORTISE_DATA, stray, '..'), { recursive: true })
  await cp(join(MORTISE_DATA, repository), join(MORTISE_DATA, stray), { recursive: true })
  expect(await check()).toEqual({ code: 0, stdout: summary, stderr: '' })
  const old = new Date(Date.now() - 7_200_000)
  await utimes(join(MORTISE_DATA, stray), old, old)
  const [blob] = globSync('blobs/??/*', { cwd: MORTISE_DATA }) as [string]
  const digest = blob.slice('blobs/'.length).replace('/', '')
  await rm(join(MORTISE_DATA, blob))
  expect(await check()).toEqual({
    code: 1,
    stdout: [
      `${stray.slice('repositories/'.length)}: the store does not know of it`,
      `uploads.digest: there is no blob ${digest}`,
      summary,
    ].join('\n'),
    stderr: '',
  })
  expect(await check('root/p')).toEqual({ code: 0, stdout: summary, stderr: '' })
  expect(await check('root/q')).toEqual({ code: 1, stdout: '', stderr: 'mortise: project root/q not found\n' })

  const store = new Database(join(MORTISE_DATA, 'mortise.sqlite'))
  store.pragma('foreign_keys = off')
  store.exec('delete from projects')
  store.close()
  const broken = await check()
  expect(broken).toMatchObject({ code: 1, stderr: '' })
  expect(broken.stdout).toContain('database: row 1 of uploads hangs on a row of projects that is gone\n')
})
