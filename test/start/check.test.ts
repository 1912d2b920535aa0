import { existsSync, globSync } from 'node:fs'
import { cp, mkdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { Child, run, temporaryFolder } from './command.ts'

const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'

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
  const check = () => run(['check'], { MORTISE_DATA })
  const summary = '1 repositories checked, 0 with faults\n'
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
  const other = 'f'.repeat(64)
  await mkdir(join(MORTISE_DATA, 'blobs/ff'))
  await writeFile(join(MORTISE_DATA, 'blobs/ff', other.slice(2)), '')
  expect(await check()).toEqual({
    code: 1,
    stdout: [
      `${stray.slice('repositories/'.length)}: the store does not know of it`,
      `uploads.digest: there is no blob ${digest}`,
      `blob ${other}: the store does not know of it`,
      summary,
    ].join('\n'),
    stderr: '',
  })

  const store = new Database(join(MORTISE_DATA, 'mortise.sqlite'))
  store.pragma('foreign_keys = off')
  store.exec('delete from projects')
  store.close()
  const broken = await check()
  expect(broken).toMatchObject({ code: 1, stderr: '' })
  expect(broken.stdout).toContain('database: row 1 of uploads hangs on a row of projects that is gone\n')
})
