/** Runners that speak the protocol themselves, for tests that check each answer. */
import { resetRegistrationToken } from '../src/features/ci/runners/registration.ts'
import type { TestForge } from '../src/forge.ts'

const FEATURES = {
  upload_multiple_artifacts: true,
  artifacts_exclude: true,
  multi_build_steps: true,
  return_exit_code: true,
  refspecs: true,
  vault_secrets: true,
}

export const info = { name: 'test', version: '1.0.0', executor: 'shell', features: FEATURES }

// oxlint-disable-next-line no-explicit-any -- read as the test expects it
type Json = any

export interface Answer {
  readonly status: number
  readonly body: Json
  readonly headers: Headers
}

export async function ask(
  forge: TestForge,
  method: string,
  path: string,
  {
    json,
    body,
    headers = {},
  }: { json?: object; body?: string | Buffer<ArrayBuffer> | FormData; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const answer = await fetch(`${forge.url}/api/v4${path}`, {
    method,
    headers: { ...(json && { 'Content-Type': 'application/json' }), ...headers },
    ...(json ? { body: JSON.stringify(json) } : body !== undefined && { body }),
  })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false
  return { status: answer.status, body: isJson && text !== '' ? JSON.parse(text) : text, headers: answer.headers }
}

export class TestRunner {
  readonly forge: TestForge
  readonly id: number
  readonly token: string
  lastUpdate = ''

  constructor(forge: TestForge, { id, token }: { id: number; token: string }) {
    this.forge = forge
    this.id = id
    this.token = token
  }

  async request(more: object = {}): Promise<Answer> {
    const json = { token: this.token, info, last_update: this.lastUpdate, ...more }
    const answer = await ask(this.forge, 'POST', '/jobs/request', { json })
    this.lastUpdate = answer.headers.get('x-gitlab-last-update') ?? this.lastUpdate
    return answer
  }

  put(job: { id: number; token: string }, json: object): Promise<Answer> {
    return ask(this.forge, 'PUT', `/jobs/${job.id}`, { json: { token: job.token, ...json } })
  }

  patch(job: { id: number; token: string }, start: number, log: string | Buffer): Promise<Answer> {
    const size = Buffer.byteLength(log)
    const range = `${start}-${start + size - 1}`
    const headers = { 'JOB-TOKEN': job.token, 'Content-Range': range, 'Content-Type': 'text/plain' }
    return ask(this.forge, 'PATCH', `/jobs/${job.id}/trace`, { headers, body: Buffer.from(log) })
  }

  upload(job: { id: number; token: string }, file: Uint8Array, query = '', name = 'artifacts.zip'): Promise<Answer> {
    const form = new FormData()
    form.append('file', new Blob([Buffer.from(file)]), name)
    const headers = { 'JOB-TOKEN': job.token }
    return ask(this.forge, 'POST', `/jobs/${job.id}/artifacts${query}`, { headers, body: form })
  }
}

/** An instance runner, or one of the token's scope. */
export async function registerRunner(forge: TestForge, input: object = {}, token?: string): Promise<TestRunner> {
  const json = { token: token ?? (await resetRegistrationToken(forge.app, null)), info, ...input }
  const { status, body } = await ask(forge, 'POST', '/runners', { json })
  if (status !== 201) throw new Error(`the runner is refused: ${status} ${JSON.stringify(body)}`)
  return new TestRunner(forge, body)
}
