import { expect, test } from 'vitest'
import { authorizationOf, LfsClient, objectOf } from '../../../../test/lfs.ts'
import { PIXEL } from '../../../../test/samples.ts'
import { ACCESS_KEY, SECRET_KEY, startS3 } from '../../../../test/s3.ts'
import { startForge } from '../../../forge.ts'

const formOf = (field: string, name: string) => {
  const form = new FormData()
  form.set(field, new Blob([Uint8Array.from(PIXEL)], { type: 'image/png' }), name)
  return form
}

test('without the bucket what needs a blob is 503 and changes nothing; all else goes on', async () => {
  const s3 = await startS3()
  const settings = { BLOBS_URL: s3.url, S3_ACCESS_KEY: ACCESS_KEY, S3_SECRET_KEY: SECRET_KEY }
  await using forge = await startForge({ settings })
  const { administrator } = forge
  const project = await forge.project({ lfs_enabled: true })
  const uploads = `/projects/${project.id}/uploads`
  const kept = await administrator.post(uploads, formOf('file', 'kept.png'))
  expect(kept.status).toBe(201)
  const object = objectOf('large')
  const lfs = new LfsClient(forge, project.path_with_namespace, authorizationOf(administrator))
  const rows = async () => ({
    uploads: (await administrator.get(uploads)).body,
    avatar: (await administrator.get('/user')).body.avatar_url,
    objects: await forge.app.db.selectFrom('lfs_objects').selectAll().execute(),
  })
  const before = await rows()

  await s3[Symbol.asyncDispose]()

  const message = '503 The blob store does not answer'
  const address = `${uploads}/${kept.body.id}`
  const [upload, avatar, file, large, issue, ready] = await Promise.all([
    administrator.post(uploads, formOf('file', 'new.png')),
    administrator.put(`/users/${administrator.id}`, formOf('avatar', 'me.png')),
    administrator.get(address),
    lfs.put(object),
    administrator.post(`/projects/${project.id}/issues`, { title: 'Still works' }),
    fetch(`${forge.url}/-/readiness`),
  ])
  expect(upload).toMatchObject({ status: 503, body: { message } })
  expect(avatar).toMatchObject({ status: 503, body: { message } })
  expect(file).toMatchObject({ status: 503, body: { message } })
  expect(large).toMatchObject({ status: 503, body: { message } })
  expect(issue.status).toBe(201)
  expect(ready.status).toBe(200)
  expect(await rows()).toEqual(before)
})
