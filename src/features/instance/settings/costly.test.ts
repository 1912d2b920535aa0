import { expect, test } from 'vitest'
import { Browser } from '../../../../test/browser.ts'
import { fillProject } from '../../../../test/contents.ts'
import { startForge } from '../../../forge.ts'

const PASSWORD = 'correct-horse-battery'

test('what is much work has a budget for visitors of one address, by API and page, and for nobody who is known', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ password: PASSWORD })
  const project = await forge.project({ path: 'mill', visibility: 'public' }, jane)
  await fillProject(forge, project.id, { files: { 'a.ts': 'let a\n' } })
  using _ = forge.clock.hold()
  const settings = (await forge.administrator.get('/application/settings')).body
  expect([
    settings.throttle_unauthenticated_costly_enabled,
    settings.throttle_unauthenticated_costly_requests_per_period,
  ]).toEqual([true, 60])
  await forge.administrator.put('/application/settings', { throttle_unauthenticated_costly_requests_per_period: 3 })

  const base = `/projects/${project.id}/repository`
  const blame = `${base}/files/a.ts/blame?ref=master`
  const page = `/${project.path_with_namespace}/-/blame/master/a.ts`
  const ask = (address: string) => fetch(forge.url + address, { headers: { Accept: 'text/html' } })
  expect((await forge.visitor.get(blame)).status).toBe(200)
  expect((await forge.visitor.get(`${base}/archive.zip`)).status).toBe(200)
  expect((await ask(page)).status).toBe(200)
  for (const path of [blame, `${base}/compare?from=master&to=master`, `${base}/commits?path=a.ts`]) {
    const refused = await forge.visitor.get(path)
    expect([path, refused.status]).toEqual([path, 429])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  }
  const refused = await ask(page)
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await refused.text()).toContain('/users/sign_in?return_to=')
  // Cheap requests are not counted, and neither are missing pages.
  expect((await forge.visitor.get(`${base}/commits`)).status).toBe(200)
  expect((await ask(`/${project.path_with_namespace}/-/tree/master`)).status).toBe(200)

  for (let n = 0; n < 5; n++) expect((await jane.get(blame)).status).toBe(200)
  const browser = new Browser(forge.url)
  await browser.signIn(jane.username, PASSWORD)
  for (let n = 0; n < 5; n++) expect((await browser.get(page, { Accept: 'text/html' })).status).toBe(200)

  forge.clock.advance(60_000)
  expect((await ask(page)).status).toBe(200)
  await forge.administrator.put('/application/settings', { throttle_unauthenticated_costly_enabled: false })
  for (let n = 0; n < 5; n++) expect((await forge.visitor.get(blame)).status).toBe(200)
})
