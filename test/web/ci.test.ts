import { afterAll, beforeAll, expect, test } from 'vitest'
import { startForge, type Person, type TestForge } from '../../src/forge.ts'
import { findJobByName, runJobByName, zipped } from '../pipelines.ts'
import { registerRunner, type TestRunner } from '../runners.ts'
import { PASSWORD, openTab } from './browser.ts'

const CONFIG = `
stages: [build, test, deploy]
compile: { stage: build, script: make, artifacts: { paths: [out] } }
docs: { stage: build, script: make docs }
check: { stage: test, script: make check, needs: [compile] }
lint: { stage: test, script: make lint, allow_failure: true, needs: [docs] }
stage: { stage: deploy, script: make ship, environment: staging, needs: [check] }
ship: { stage: deploy, script: make ship, when: manual }
`

const ESC = '\u001b'
const LOG = [
  `section_start:100:fetch[collapsed=true]\r${ESC}[0KFetching`,
  'of the first package',
  `section_end:160:fetch\r${ESC}[0K`,
  `${ESC}[32mAll went well${ESC}[0m, ${ESC}[1;31mnearly${ESC}[0m`,
  '<b>no tag</b>',
].join('\n')

let forge: TestForge
let jane: Person
let runner: TestRunner
/** The URL below the project: `/jane/mill/-`. */
let at: string
let compiled: number

beforeAll(async () => {
  forge = await startForge()
  jane = await forge.user({ name: 'Jane', password: PASSWORD })
  const project = await forge.project({ name: 'Mill', path: 'mill', visibility: 'public' }, jane)
  await forge.seed(project, { '.gitlab-ci.yml': CONFIG, 'README.md': 'Grinds.' }, { as: jane })
  at = `/${jane.username}/mill/-`
  const compile = await runJobByName(forge, 'compile', { log: LOG, files: { 'out/a.txt': 'a', 'out/deep/b.txt': 'b' } })
  await runJobByName(forge, 'docs', { log: 'docs' })
  await runJobByName(forge, 'check')
  await runJobByName(forge, 'lint', { log: 'broken', fails: { reason: 'script_failure' } })
  await runJobByName(forge, 'stage', { log: 'shipped' })
  compiled = compile.id
  await forge.settle()
  runner = await registerRunner(forge, { description: 'a runner' })
})
afterAll(() => forge[Symbol.asyncDispose]())

test('a log has its colours, and its sections fold', async () => {
  await using tab = await openTab(forge)
  const page = await tab.go(`${at}/jobs/${compiled}`)
  expect(await page.locator('.ansi-green').textContent()).toBe('All went well')
  expect(await page.locator('.ansi-red.ansi-bold').textContent()).toBe('nearly')
  expect(await page.locator('#L5').textContent()).toContain('<b>no tag</b>')
  expect(await page.locator('#L2').isVisible()).toBe(false)
  await page.locator('.log-section summary').click()
  expect(await page.locator('#L2').isVisible()).toBe(true)
  await tab.go(`${at}/jobs/${compiled}?search=PACKAGE`)
  await page.getByRole('link', { name: 'of the first package' }).click()
  await expect.poll(() => page.url()).toContain('#L2')
  await expect.poll(() => page.locator('#L2').isVisible()).toBe(true)
  expect(tab.complaints()).toEqual([])
})

test('a pipeline is started with a variable and watched to its end without a reload', async () => {
  await using tab = await openTab(forge, jane)
  const page = await tab.go(`${at}/pipelines/new`)
  await page.getByLabel('Name of variable 1').fill('WHERE')
  await page.getByLabel('Value of variable 1').fill('here')
  await page.getByRole('button', { name: 'Run pipeline' }).click()
  await page.waitForURL(/\/pipelines\/\d+$/)
  await page.waitForSelector('html[data-ready]')
  await page.evaluate('globalThis.isSamePage = true')
  expect(await page.locator('.graph-lines path').count()).toBe(3)

  const { body: compile } = await runner.request()
  await expect.poll(() => page.locator('h1').textContent()).toContain('Running')
  expect(compile.variables).toContainEqual(expect.objectContaining({ key: 'WHERE', value: 'here' }))
  await runner.upload(compile, await zipped({ 'out/a.txt': 'a' }))
  await runner.put(compile, { state: 'success' })
  for (;;) {
    const { status, body: job } = await runner.request()
    if (status !== 201) break
    await runner.patch(job, 0, `${job.job_info.name} is done\n`)
    await runner.put(job, { state: 'success' })
  }
  await expect.poll(() => page.locator('h1').textContent()).toContain('Passed')
  expect(await page.locator('.graph-job[data-state=success]').count()).toBe(5)
  await page.getByRole('button', { name: 'Run ship' }).click()
  await expect.poll(() => page.locator('.graph-job[data-state=pending]').count()).toBe(1)
  expect(await page.evaluate('globalThis.isSamePage')).toBe(true)
  expect(tab.complaints()).toEqual([])
})

test('a log is followed while it is written', async () => {
  const { body: job } = await runner.request()
  expect(job.job_info.name).toBe('ship')
  await using tab = await openTab(forge, jane)
  const page = await tab.go(`${at}/jobs/${job.id}`)
  let written = 0
  const write = async (text: string) => {
    await runner.patch(job, written, text)
    written += text.length
  }
  await write('first\n')
  await expect.poll(() => page.locator('.log').textContent()).toContain('first')
  await write(`${ESC}[31msecond${ESC}[0m\n`)
  await expect.poll(() => page.locator('.ansi-red').textContent()).toBe('second')
  await write('line\n'.repeat(6000))
  await expect.poll(() => page.locator('.log-line').count()).toBe(5000)
  await expect.poll(() => page.locator('.log-number').last().textContent()).toBe('6002')
  expect(await page.locator('.log-line').count()).toBe(5000)
  await runner.put(job, { state: 'success' })
  await expect.poll(() => page.locator('h1').textContent()).toContain('Passed')
  expect(tab.complaints()).toEqual([])
})

test('50 MB of a log stay usable, in bounded pieces', async () => {
  const line = (n: number) => `${String(n).padStart(7, '0')} ${'x'.repeat(91)}\n`
  const count = 500_000
  const job = await findJobByName(forge, 'docs')
  const log = Buffer.from(Array.from({ length: count }, (_, n) => line(n + 1)).join(''))
  expect(log.length).toBe(50_000_000)
  const { digest, size } = await forge.app.blobs.put(log)
  const set = { trace_digest: digest, trace_size: size }
  await forge.app.db.updateTable('ci_jobs').set(set).where('id', '=', job.id).execute()
  await forge.app.db.deleteFrom('ci_trace_chunks').where('job_id', '=', job.id).execute()

  await using tab = await openTab(forge, jane)
  const page = await tab.go(`${at}/jobs/${job.id}`)
  const isBounded = async () =>
    expect(await page.evaluate<number>("document.querySelectorAll('*').length")).toBeLessThan(30_000)
  await isBounded()
  expect(await page.locator(`#L${count}`).textContent()).toContain(String(count))
  await tab.go(`${at}/jobs/${job.id}#L10`)
  await page.waitForURL(/line=/)
  await page.waitForSelector('html[data-ready]')
  await expect.poll(() => page.locator('#L10').isVisible()).toBe(true)
  await isBounded()
  await tab.go(`${at}/jobs/${job.id}?search=0250000`)
  await page.locator('.log-found a', { hasText: '0250000' }).click()
  await page.waitForURL(/#L250000$/)
  await expect.poll(() => page.locator('#L250000').isVisible()).toBe(true)
  await isBounded()
  expect(tab.complaints()).toEqual([])
})

test.each([true, false])(
  'the CI file is checked and committed, and a runner made, with scripts: %s',
  async (javaScriptEnabled) => {
    await using tab = await openTab(forge, jane, { javaScriptEnabled })
    const page = await tab.go(`${at}/ci/editor`)
    await page.getByRole('textbox', { name: 'Configuration' }).fill('broken: { script: 1, stage: nowhere }')
    // Errors are shown while typing, with their line.
    if (javaScriptEnabled) await page.locator('.ci-live .fault button', { hasText: 'Line 1' }).first().click()
    await page.getByRole('button', { name: 'Validate' }).click()
    await expect.poll(() => page.locator('.lint h2').textContent()).toContain('invalid')
    const name = `job${javaScriptEnabled}`
    await page.getByRole('textbox', { name: 'Configuration' }).fill(`${name}: { script: echo }`)
    await page.getByRole('button', { name: 'Validate' }).click()
    await expect.poll(() => page.locator('.lint td').allTextContents()).toContain(name)
    await page.getByRole('button', { name: 'Commit' }).click()
    await page.waitForURL(/\/pipelines\?ref=/)
    await expect.poll(() => page.locator('.item').first().textContent()).toContain('Pending')

    await tab.go(`${at}/settings/ci_cd`)
    await page.getByText('Add variable').first().click()
    await page.locator('#variables [name=key]:not([type=hidden])').fill(`NEW_${name}`)
    await page.locator('#variables [name=value]').fill('something')
    await page.getByRole('button', { name: 'Add variable' }).click()
    await expect.poll(() => page.locator('#variables td code').allTextContents()).toContain(`NEW_${name}`)
    await page.getByText('New runner').click()
    await page.locator('#runners').getByLabel('Description').fill(`runner ${name}`)
    await page.getByRole('button', { name: 'Create runner' }).click()
    await expect.poll(() => page.locator('.ci-new-token input').inputValue()).toMatch(/^glrt-/)
    await expect
      .poll(() => page.locator('#runners .item').allTextContents())
      .toContainEqual(expect.stringContaining(`runner ${name}`))
    expect(tab.complaints()).toEqual([])
  },
)

test('pages ask for more of a log as often as administrators let them', async () => {
  await jane.post(`/projects/${encodeURIComponent(at.slice(1, -2))}/jobs/${compiled}/retry`)
  const job = await runJobByName(forge, 'compile', { log: 'first', isLeftRunning: true })
  await using tab = await openTab(forge, jane)
  const { page } = tab
  let questions = 0
  page.on('request', (request) => {
    if (request.url().includes('/trace_part?start=')) questions++
  })
  await forge.administrator.put('/application/settings', { polling_interval_multiplier: 0 })
  await tab.go(`${at}/jobs/${job.id}`)
  await page.waitForTimeout(1500)
  expect([questions, await page.getByLabel('Follow the log').count()]).toEqual([0, 0])

  await forge.administrator.put('/application/settings', { polling_interval_multiplier: 0.2 })
  await tab.go(`${at}/jobs/${job.id}`)
  await expect.poll(() => questions).toBeGreaterThan(2)
  expect(tab.complaints()).toEqual([])
})
