import { expect, test } from 'vitest'
import { runJobByName } from '../../../../test/pipelines.ts'
import { startForge } from '../../../forge.ts'

const CONFIG = 'check: { script: make check, coverage: "/Covered (\\\\d+)%/" }'

test('badges tell of the newest pipeline of a branch', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const project = await forge.project({ visibility: 'public' })
  const page = async (path: string, token?: string) => {
    const answer = await fetch(`${project.web_url}${path}`, { headers: token ? { 'PRIVATE-TOKEN': token } : {} })
    return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() }
  }
  expect((await page('/badges/master/pipeline.svg')).text).toContain('unknown')
  await forge.seed(project, { '.gitlab-ci.yml': CONFIG })
  for (const path of ['/badges/master/pipeline.svg', '/-/badges/master/pipeline.svg', '/badges/master/build.svg']) {
    const { status, type, text } = await page(path)
    expect({ status, type }, path).toEqual({ status: 200, type: 'image/svg+xml' })
    expect(text).toContain('>pending<')
  }
  expect((await page('/badges/master/coverage.svg')).text).toContain('unknown')
  await runJobByName(forge, 'check', { log: 'Covered 93%\n' })
  await forge.settle()
  const passed = (await page('/badges/master/pipeline.svg')).text
  expect(passed).toContain('>passed<')
  expect(passed).toContain('#4c1')
  const covered = (await page('/badges/master/coverage.svg?job=check')).text
  expect(covered).toContain('>93%<')
  expect(covered).toContain('#a3c51c')
  expect((await page('/badges/master/coverage.svg?job=other')).text).toContain('unknown')
  const worded = (await page('/badges/master/pipeline.svg?key_text=<script>&key_width=100&style=flat-square')).text
  expect(worded).toContain('&lt;script&gt;')
  expect(worded).toContain('width="154"')
  expect((await page('/badges/master/pipeline.png')).status).toBe(404)
  expect((await page('/badges/pipeline.svg')).status).toBe(404)
  expect((await page('/-/badges/release.svg')).text).toContain('none')

  await root.put(`/projects/${project.id}`, { visibility: 'private' })
  expect((await page('/badges/master/pipeline.svg')).status).toBe(404)
  const stranger = await forge.user()
  expect((await page('/badges/master/pipeline.svg', stranger.token)).status).toBe(404)
  expect((await page('/badges/master/pipeline.svg', root.token)).status).toBe(200)
})
