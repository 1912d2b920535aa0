/** Attacks on content in a bucket through the public endpoints: user input never becomes a key or a URL. */
import { expect, test } from 'vitest'
import { LfsClient, authorizationOf, objectOf } from '../../../test/lfs.ts'
import { ACCESS_KEY, SECRET_KEY, startS3 } from '../../../test/s3.ts'
import { startForge } from '../../forge.ts'

const KEY = /^[0-9a-f]{2}\/[0-9a-f]{62}$/

async function stage() {
  const s3 = await startS3()
  let log = ''
  const settings = { BLOBS_URL: s3.url, S3_ACCESS_KEY: ACCESS_KEY, S3_SECRET_KEY: SECRET_KEY, LOG: 'debug' }
  const forge = await startForge({ settings, logTo: { write: (line) => void (log += line) } })
  const ann = await forge.user({ username: 'ann' })
  const eve = await forge.user({ username: 'eve' })
  const secret = await forge.project({ path: 'secret' }, ann)
  const own = await forge.project({ path: 'own' }, eve)
  return {
    s3,
    forge,
    ann,
    eve,
    secret,
    own,
    log: () => log,
    lfs: {
      ann: new LfsClient(forge, 'ann/secret', authorizationOf(ann)),
      eve: new LfsClient(forge, 'eve/own', authorizationOf(eve)),
    },
    async [Symbol.asyncDispose]() {
      await forge[Symbol.asyncDispose]()
      await s3[Symbol.asyncDispose]()
    },
  }
}

test('nobody is sent to the bucket, nor told how to get there', async () => {
  await using at = await stage()
  const { lfs, s3, eve, own } = at
  const object = objectOf('a picture')
  const up = await lfs.eve.batch('upload', object)
  await lfs.eve.put(object)
  const down = await lfs.eve.batch('download', object)
  const { href, header } = down.body.objects[0].actions.download
  const got = await lfs.eve.request('GET', href, undefined, header)
  expect([got.status, got.body]).toEqual([200, 'a picture'])
  const form = new FormData()
  form.set('file', new Blob(['text']), 'a.txt')
  const uploaded = await eve.post(`/projects/${own.id}/uploads`, form)
  expect(uploaded.status).toBe(201)
  s3.mishaps.push('500', '500', '500', '500')
  const failed = await lfs.eve.request('GET', href, undefined, header)
  expect(failed.status).toBe(503)
  const answers = JSON.stringify([
    up.body,
    down.body,
    uploaded.body,
    failed.body,
    [...got.headers],
    [...failed.headers],
  ])
  for (const words of [answers, at.log()]) {
    for (const secret of [s3.endpoint, new URL(s3.endpoint).host, 'AWS4', 'X-Amz', 'Signature=']) {
      expect(words.toLowerCase()).not.toContain(secret.toLowerCase())
    }
  }
})

test('what another project has is neither fetched nor linked by its id, and the bucket is not even asked', async () => {
  await using at = await stage()
  const { lfs, s3, forge } = at
  const object = objectOf('a secret picture')
  await lfs.ann.put(object)
  await forge.settle()
  const before = s3.requests.length
  const { body } = await lfs.eve.batch('download', object)
  expect(body.objects[0]).toMatchObject({ error: { code: 404 } })
  expect((await lfs.eve.content(object)).status).toBe(404)
  expect(s3.requests.length).toBe(before)
  // Content of the same length, or none, under its id.
  const url = `gitlab-lfs/objects/${object.oid}/${object.size}`
  const forgeries = [Buffer.alloc(object.size, 'x'), Buffer.alloc(0), Buffer.concat([object.content, Buffer.from('x')])]
  for (const content of forgeries) expect((await lfs.eve.request('PUT', url, content)).status).toBe(400)
  expect(s3.requests.slice(before).filter((method) => method === 'PUT')).toEqual([])
  expect((await lfs.eve.content(object)).status).toBe(404)
  const { body: kept } = await lfs.ann.content(object)
  expect(kept).toBe('a secret picture')
})

test('no name that a user gives is part of a key', async () => {
  await using at = await stage()
  const { lfs, s3, eve, own, forge } = at
  const object = objectOf('x')
  const names = [
    '../../etc/passwd',
    `${object.oid}/../../secret`,
    `${object.oid.toUpperCase()}`,
    `${object.oid}?X-Amz-Expires=1`,
    `${object.oid}%00`,
    `..%2f..%2f${object.oid}`,
    '*',
    '',
  ]
  const before = s3.requests.length
  for (const oid of names) {
    const { status, body } = await lfs.eve.batch('upload', { oid, size: 1 })
    expect([oid, status, body.objects?.[0]?.actions]).toEqual([oid, 200, undefined])
    expect([oid, (await lfs.eve.request('PUT', `gitlab-lfs/objects/${oid}/1`, Buffer.from('x'))).status]).not.toEqual([
      oid,
      200,
    ])
    expect([oid, (await lfs.eve.get(`gitlab-lfs/objects/${oid}`)).status]).not.toEqual([oid, 200])
  }
  expect(s3.requests.length).toBe(before)

  for (const name of ['../../x', 'a?versionId=1&acl', 'a b\n%2e%2e/c', '<Key>..</Key>', '\u202egnp.x']) {
    const form = new FormData()
    form.set('file', new Blob([name]), name)
    const { status, body } = await eve.post(`/projects/${own.id}/uploads`, form)
    expect(status).toBe(201)
    const answer = await fetch(`${forge.url}/eve/own${body.url}`, { headers: { 'PRIVATE-TOKEN': eve.token } })
    expect([name, answer.status, await answer.text()]).toEqual([name, 200, name])
  }
  await lfs.eve.put(object)
  for (const key of await s3.keys()) expect(key).toMatch(KEY)
})

test('a range is asked for as it was understood, or not at all', async () => {
  await using at = await stage()
  const { lfs } = at
  const object = objectOf('0123456789')
  await lfs.eve.put(object)
  const table: [string, number, string][] = [
    ['bytes=2-4', 206, '234'],
    ['bytes=-3', 206, '789'],
    ['bytes=99-', 416, ''],
    ['bytes=0-1,5-6', 200, '0123456789'],
    ['bytes=4-2', 200, '0123456789'],
    ['bytes=0x1-2', 200, '0123456789'],
    [`bytes=0-${'9'.repeat(400)}`, 200, '0123456789'],
    ['lines=1-2', 200, '0123456789'],
  ]
  for (const [range, status, body] of table) {
    const answer = await lfs.eve.get(`gitlab-lfs/objects/${object.oid}`, { Range: range })
    expect([range, answer.status, answer.body]).toEqual([range, status, body])
  }
})
