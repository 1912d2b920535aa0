/** Backups to and from places that fail: one line that says what to do, nothing half done, and the next attempt succeeds. */
import { randomBytes } from 'node:crypto'
import { readFile, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ACCESS_KEY, SECRET_KEY, startS3, type S3 } from '../s3.ts'
import { Child, MAIN, run, temporaryFolder, until } from './command.ts'
import { canCreateDisk, fillDisk, createDisk } from './small-disk.ts'
import { MORTISE_ROOT_TOKEN, type Settings, call, server, withInstance } from './merge-crash.ts'

const MB = 1024 * 1024

const bucket = (s3: S3) => s3.url.replace('s3://blobs?', 's3://blobs/nightly?timeout=2&')
const KEYS = { MORTISE_S3_ACCESS_KEY: ACCESS_KEY, MORTISE_S3_SECRET_KEY: SECRET_KEY }

async function upload(url: string, content: Uint8Array): Promise<void> {
  const body = new FormData()
  body.append('file', new Blob([new Uint8Array(content)]), 'some.bin')
  const headers = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN }
  expect((await fetch(`${url}/api/v4/projects/1/uploads`, { method: 'POST', headers, body })).status).toBe(201)
}

/** The settings to restore this instance into another folder. */
async function elsewhere(settings: Settings, folder: string): Promise<Settings> {
  const key = (await readFile(join(settings.MORTISE_DATA!, 'secret.key'), 'utf8')).trim()
  return { ...settings, MORTISE_DATA: folder, MORTISE_SECRET_KEY: key }
}

/** Runs a command that fails, in one line. */
async function faultOf(args: string[], settings: Settings): Promise<string> {
  const { code, stderr } = await run(args, settings)
  expect(code).toBe(1)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  return stderr.trimEnd().replace('mortise: ', '')
}

test('a bucket that cannot be used is reported in one line', () =>
  withInstance(async (settings) => {
    await using s3 = await startS3()
    const keyed = { ...settings, ...KEYS }
    await using served = new Child(['serve'], settings)
    await served.url()
    s3.outage = { kind: 'silent' }
    const advice = 'check the endpoint and the network, then try again'
    expect(await faultOf(['backup', bucket(s3)], keyed)).toBe(`the bucket has not answered for 2 s: ${advice}`)
    const nowhere = 's3://blobs?endpoint=http://127.0.0.1:1&timeout=2'
    expect(await faultOf(['restore', nowhere], keyed)).toBe(
      `the bucket cannot be reached (connect ECONNREFUSED 127.0.0.1:1): ${advice}`,
    )
    expect(await faultOf(['backup', nowhere], settings)).toContain(
      'MORTISE_S3_ACCESS_KEY and MORTISE_S3_SECRET_KEY must be set',
    )
    expect(await faultOf(['backup', 's3://blobs?endpoint=here'], keyed)).toContain('must look like')
  }))

interface Status {
  readonly current_at: string | null
  readonly error: string | null
}

test(
  'the server serves while its backup cannot be written, and the backup goes on afterwards',
  { timeout: 400_000 },
  () =>
    withInstance(async (settings) => {
      await using s3 = await startS3()
      s3.outage = { kind: 'silent' }
      const backup = { MORTISE_BACKUP_URL: bucket(s3), MORTISE_BACKUP_VERIFY: 'off' }
      await using served = new Child(['serve'], { ...settings, ...KEYS, ...backup })
      const url = await served.url()
      const status = async () => (await call(url, 'GET', '/application/backup')) as Status
      const seen = async (error: string | null) => {
        await until(async () => (await status()).error === error)
        await call(url, 'POST', '/projects', { name: `project ${Date.now()}`, initialize_with_readme: true })
      }
      const advice = 'check the endpoint and the network, then try again'
      await seen(`the bucket has not answered for 2 s: ${advice}`)
      s3.outage = { kind: 503 }
      await seen('the bucket answers 503 SlowDown: try again later')
      s3.outage = null
      await seen(null)
      served.process.kill('SIGTERM')
      expect(await served.ended()).toBe(0)
      const keyed = { ...settings, ...KEYS }
      expect(await run(['backup', 'verify', bucket(s3)], keyed)).toMatchObject({ code: 0, stderr: '' })
    }),
)

test('a full destination: the archive stays whole, and takes the rest once there is room', { timeout: 400_000 }, () =>
  withInstance(async (settings) => {
    await using folder = await temporaryFolder()
    using disk = createDisk(folder.path, '32m')
    const dest = join(folder.path, 'backup')
    const ballast = join(folder.path, 'ballast')
    await using served = new Child(['serve'], settings)
    const url = await served.url()
    await call(url, 'POST', '/projects', { path: 'one', initialize_with_readme: true })
    await upload(url, randomBytes(MB))
    expect(await run(['backup', dest], settings)).toMatchObject({ code: 0 })
    const kept = (await readdir(dest)).toSorted()

    await upload(url, randomBytes(6 * MB))
    // Without the right to mount a small disk, files have a limit instead.
    const limited = disk ? undefined : ['bash', '-c', `ulimit -f 4096; exec "$0" "$@"`, process.execPath, MAIN]
    if (disk) await fillDisk(ballast)
    await using full = new Child(['backup', dest], settings, '', limited)
    expect(await full.ended()).toBe(1)
    expect(full.stderr).toMatch(
      /^mortise: (the disk is full: free some space, then try again|EFBIG: file too large.*)\n$/,
    )
    expect((await readdir(dest)).toSorted()).toEqual(kept)
    expect(await run(['backup', 'verify', dest], settings)).toMatchObject({ code: 0, stderr: '' })
    await call(url, 'POST', '/projects', { path: 'two' })

    await rm(ballast, { force: true })
    expect(await run(['backup', dest], settings)).toMatchObject({ code: 0 })
    const proven = await run(['backup', 'verify', dest], settings)
    expect(proven).toMatchObject({ code: 0, stderr: '' })
    expect(proven.stdout).toContain('2 repositories')
    expect(proven.stdout).toContain('2 files')
  }),
)

test.runIf(canCreateDisk && server === undefined)(
  'a restore to a full disk leaves nothing behind',
  { timeout: 400_000 },
  () =>
    withInstance(async (settings) => {
      await using folder = await temporaryFolder()
      await using served = new Child(['serve'], settings)
      await call(await served.url(), 'POST', '/projects', { path: 'one', initialize_with_readme: true })
      await using archive = await temporaryFolder()
      expect(await run(['backup', archive.path], settings)).toMatchObject({ code: 0 })
      using _disk = createDisk(folder.path, '32m')
      const ballast = join(folder.path, 'ballast')
      await fillDisk(ballast)
      const target = await elsewhere(settings, join(folder.path, 'restored'))
      expect(await faultOf(['restore', archive.path], target)).toBe('the disk is full: free some space, then try again')
      expect(await readdir(folder.path)).toEqual(['ballast'])
      await rm(ballast)
      expect(await run(['restore', archive.path], target)).toMatchObject({ code: 0, stderr: '' })
    }),
)
