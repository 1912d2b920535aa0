import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'
import { VERSION } from '../../../version.ts'

test('version and metadata say which release is spoken and which program speaks', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const body = {
    version: '16.0.0',
    revision: `mortise-${VERSION}`,
    kas: { enabled: false, externalUrl: null, externalK8sProxyUrl: null, version: null },
    enterprise: false,
  }
  expect(await jane.get('/version')).toMatchObject({ status: 200, body })
  expect((await jane.get('/version')).body).toEqual(body)
  expect((await jane.get('/metadata')).body).toEqual(body)
})

test('an administrator chooses the reported version, in three numbers', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  expect((await administrator.put('/application/settings', { reported_version: '10.0.4' })).status).toBe(200)
  expect((await administrator.get('/version')).body.version).toBe('10.0.4')

  for (const reported_version of ['', '10', '10.0', '10.0.4-ee', 'v10.0.4', '10.0.4\n']) {
    expect(await administrator.put('/application/settings', { reported_version })).toMatchObject({
      status: 400,
      body: { message: { reported_version: ['is invalid'] } },
    })
  }
  expect((await administrator.get('/version')).body.version).toBe('10.0.4')
})
