import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { backupStage } from '../../test/backups.ts'
import { ACCESS_KEY, SECRET_KEY, startS3, type Outage } from '../../test/s3.ts'
import { startForge } from '../forge.ts'
import { archiveFault } from './archive.ts'

const OBJECTS = /GET .*objects\/\w\w\//
const LATER = 'try again later'
const SILENT = 'the bucket has not answered for 1 s: check the endpoint and the network, then try again'
const CLOSED = 'the bucket has closed the connection: try again'

const OUTAGES: readonly (readonly [Outage, RegExp, string])[] = [
  [500, /./, `the bucket answers 500 InternalError: ${LATER}`],
  [503, /PUT/, `the bucket answers 503 SlowDown: ${LATER}`],
  [403, /./, 'the bucket answers 403 AccessDenied: check MORTISE_S3_ACCESS_KEY, MORTISE_S3_SECRET_KEY and the'],
  ['silent', /./, SILENT],
  ['silent', /PUT .*objects/, SILENT],
  ['silent', /PUT .*manifest/, SILENT],
  ['cut in the middle', /PUT/, CLOSED],
  ['stuck in the middle', /PUT/, SILENT],
]

const READ_OUTAGES: typeof OUTAGES = [
  [403, /./, 'the bucket answers 403 AccessDenied: check'],
  [503, OBJECTS, `the bucket answers 503 SlowDown: ${LATER}`],
  ['silent', OBJECTS, SILENT],
  ['cut in the middle', OBJECTS, CLOSED],
  ['stuck in the middle', OBJECTS, SILENT],
]

test('a bucket that fails: a line that says what to do, nothing half done, and the next attempt succeeds', async () => {
  await using forge = await startForge()
  await using s3 = await startS3()
  const project = await forge.project()
  await forge.seed(project, { 'a.txt': 'one' })
  await forge.settle()
  const address = s3.url.replace('s3://blobs?', `s3://${ACCESS_KEY}:${SECRET_KEY}@blobs/nightly?timeout=1&`)
  await using stage = await backupStage(forge, address)
  const manifests = async () => (await s3.keys()).filter((key) => key.includes('manifest'))
  const faultOf = (work: Promise<unknown>) => work.then(() => 'done', archiveFault)

  for (const [kind, requests, message] of OUTAGES) {
    s3.outage = { kind, requests }
    expect.soft(await faultOf(stage.backUp()), `backup, ${kind} ${requests}`).toContain(message)
    expect.soft(await manifests()).toEqual([])
  }
  s3.outage = { kind: 'slow' }
  await stage.backUp()
  const kept = await manifests()
  expect(kept).toHaveLength(1)

  const before = await readdir(stage.folder)
  for (const [kind, requests, message] of READ_OUTAGES) {
    s3.outage = { kind, requests }
    expect.soft(await faultOf(stage.restore()), `restore, ${kind} ${requests}`).toContain(message)
    expect.soft(await readdir(stage.folder)).toEqual(before)
  }
  s3.outage = { kind: 403, requests: /PUT/ }
  expect(await faultOf(stage.backUp())).toContain('the bucket answers 403 AccessDenied')
  expect(await manifests()).toEqual(kept)
  s3.outage = { kind: 'slow' }
  expect((await stage.restore()).faults).toEqual([])
  await stage.backUp()
  expect((await stage.restore()).faults).toEqual([])
})
