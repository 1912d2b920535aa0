import { request as httpRequest } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { registerRunner, type TestRunner } from '../../../../test/runners.ts'
import { zipped } from '../../../../test/pipelines.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { zipOf, type ZipInput } from '../../../lib/zip/writer.ts'

let forge: TestForge
let owner: Person
let runner: TestRunner
let project: { id: number; path_with_namespace: string }

beforeAll(async () => {
  forge = await startForge()
  owner = await forge.user()
  project = await forge.project({ visibility: 'public' }, owner)
  await forge.seed(project, { '.gitlab-ci.yml': 'a: { script: x, parallel: 20 }\n' }, { as: owner })
  runner = await registerRunner(forge)
})
afterAll(() => forge.close())

const newJob = async (): Promise<{ id: number; token: string }> => (await runner.request()).body
const artifacts = () => forge.app.db.selectFrom('ci_artifacts').selectAll().execute()

const FORM = Buffer.concat([
  Buffer.from('--x\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n'),
  Buffer.alloc(20 * 1024 * 1024, 'x'),
  Buffer.from('\r\n--x--\r\n'),
])

/** The answer, and whether the server asked for the body. */
function send(job: { id: number; token: string }, headers: Record<string, string>) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; isAsked: boolean; closes: boolean }>()
  let isAsked = false
  const request = httpRequest(
    `${forge.url}/api/v4/jobs/${job.id}/artifacts`,
    {
      method: 'POST',
      headers: { 'Content-Type': 'multipart/form-data; boundary=x', 'JOB-TOKEN': job.token, ...headers },
    },
    (answer) => {
      answer.resume()
      answer.once('end', () => {
        resolve({ status: answer.statusCode!, isAsked, closes: answer.headers.connection === 'close' })
        request.destroy()
      })
    },
  )
  request.once('error', reject)
  if (headers['Expect']) {
    request.once('continue', () => {
      isAsked = true
      request.end(FORM)
    })
    request.flushHeaders()
  } else request.end(FORM)
  return promise
}

test('who sends much and is refused reads why, and one who asks first need not send it', async () => {
  const job = await newJob()
  const before = await artifacts()
  const liar = { ...job, token: 'glcbt-wrong' }
  const known = { 'Content-Length': String(FORM.length) }
  const chunked = { 'Transfer-Encoding': 'chunked' }
  const asking = { Expect: '100-continue' }
  expect(await send(liar, chunked)).toMatchObject({ status: 403 })
  expect(await send(liar, { ...known, ...asking })).toEqual({ status: 403, isAsked: false, closes: true })
  await forge.administrator.put('/application/settings', { max_artifacts_size: 1 })
  expect(await send(job, chunked)).toMatchObject({ status: 413 })
  expect(await send(job, { ...known, ...asking })).toEqual({ status: 413, isAsked: false, closes: true })
  expect(await send(job, { ...chunked, ...asking })).toMatchObject({ status: 413, isAsked: true })
  await forge.administrator.put('/application/settings', { max_artifacts_size: 100 })
  // Accepted as a file, and rejected because of its content.
  expect(await send(job, { ...known, ...asking })).toMatchObject({ status: 400, isAsked: true, closes: false })
  expect(await artifacts()).toEqual(before)
})

const fileOf = (name: string, text: string, mode = 0o100644): ZipInput => ({
  name,
  mode,
  mtime: new Date(0),
  size: Buffer.byteLength(text),
  async *content() {
    yield Buffer.from(text)
  },
})

async function packed(...inputs: ZipInput[]): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of zipOf(inputs)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** The first entry in the directory. */
const directoryAt = (zip: Buffer) => zip.indexOf(Buffer.from([0x50, 0x4b, 1, 2]))

async function keep(zip: Buffer) {
  const job = await newJob()
  const { status } = await runner.upload(job, zip)
  const read = async (path: string) => {
    const answer = await fetch(
      `${forge.url}/api/v4/projects/${project.id}/jobs/${job.id}/artifacts/${encodeURIComponent(path)}`,
    )
    return { status: answer.status, text: await answer.text().catch(() => 'cut off') }
  }
  return { status, read }
}

test('archives are believed in nothing', async () => {
  const names = ['../evil', '/etc/passwd', 'a/../../b', 'C:\\x', 'a\\..\\b', 'a//b']
  const hostile = await keep(
    await packed(
      ...names.map((name) => fileOf(name, 'evil')),
      fileOf('link', '/etc/passwd', 0o120777),
      fileOf('pipe', '', 0o010644),
      fileOf('good.txt', 'good'),
    ),
  )
  expect(hostile.status).toBe(201)
  expect(await hostile.read('good.txt')).toEqual({ status: 200, text: 'good' })
  for (const name of [...names, 'link', 'pipe', 'good.txt/', 'nothing'])
    expect([name, (await hostile.read(name)).status]).toEqual([name, 404])
  expect((await hostile.read('a\0b')).status).toBe(400)

  const bomb = await packed(fileOf('a', 'x'.repeat(1000)))
  bomb.writeUInt32LE(0xfffffff0, directoryAt(bomb) + 24)
  expect((await (await keep(bomb)).read('a')).status).toBe(404)
  const far = await packed(fileOf('a', 'hello'))
  far.writeUInt32LE(0x00ffffff, directoryAt(far) + 42)
  expect((await (await keep(far)).read('a')).status).toBe(404)
  const locked = await packed(fileOf('a', 'hello'))
  locked.writeUInt16LE(locked.readUInt16LE(directoryAt(locked) + 8) | 1, directoryAt(locked) + 8)
  expect((await (await keep(locked)).read('a')).status).toBe(404)

  const before = await artifacts()
  const crowded = await packed(fileOf('a', 'hello'))
  crowded.writeUInt16LE(0xfffe, crowded.length - 12)
  for (const bad of [crowded, crowded.subarray(0, -1), Buffer.from('PK'), Buffer.alloc(0)])
    expect((await keep(bad)).status).toBe(400)
  expect(await artifacts()).toEqual(before)
})

test('reports and logs are held to the limits of the plan', async () => {
  const job = await newJob()
  const dotenv = (text: string) => runner.upload(job, gzipSync(text), '?artifact_type=dotenv&artifact_format=gzip', 'e')
  const limits = (input: object) =>
    forge.administrator.put('/application/plan_limits', { plan_name: 'default', ...input })
  const many = Array.from({ length: 21 }, (_, n) => `A${n}=b`).join('\n')
  for (const [text, why] of [
    [many, 'Dotenv files cannot have more than 20 variables'],
    [`A=${'x'.repeat(6000)}`, 'Dotenv Artifact Too Big. Maximum Allowable Size: 5120'],
    [`A=${'x'.repeat(50_000_000)}`, 'Dotenv Artifact Too Big. Maximum Allowable Size: 5120'],
    ['no variable', 'Invalid Format'],
  ] as const)
    expect(await dotenv(text)).toMatchObject({ status: 400, body: { message: `400 Bad Request - ${why}` } })
  expect((await forge.app.db.selectFrom('ci_job_variables').selectAll().execute()).length).toBe(0)
  await limits({ dotenv_variables: 21, dotenv_size: 1000, ci_jobs_trace_size_limit: 1 })
  expect((await dotenv(`A=${'x'.repeat(1000)}`)).status).toBe(400)
  expect((await dotenv(many)).status).toBe(201)

  const piece = 'x'.repeat(600_000)
  expect((await runner.patch(job, 0, piece)).status).toBe(202)
  const over = await runner.patch(job, piece.length, piece)
  expect([over.status, over.headers.get('job-status')]).toEqual([403, 'failed'])
  expect((await owner.get(`/projects/${project.id}/jobs/${job.id}`)).body).toMatchObject({
    status: 'failed',
    failure_reason: 'trace_size_exceeded',
  })
  await limits({ ci_jobs_trace_size_limit: 0 })
  const other = await newJob()
  await runner.patch(other, 0, piece)
  expect((await runner.patch(other, piece.length, piece)).status).toBe(202)
})

test('the same is taken twice, another of its kind is not', async () => {
  const job = await newJob()
  const [one, two] = [await zipped({ a: 'x' }), await zipped({ a: 'y' })]
  expect((await runner.upload(job, one)).status).toBe(201)
  expect((await runner.upload(job, one)).status).toBe(201)
  const before = await artifacts()
  expect((await runner.upload(job, two)).body).toEqual({
    message: '400 Bad Request - another artifact of the same type already exists',
  })
  expect(await artifacts()).toEqual(before)
})
