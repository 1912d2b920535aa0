/** Calls that a page makes while the user types: only in a browser, in addition to `load` and actions. */
import { Refused, type Records } from './api.ts'

async function post<T>(path: string, csrf: string, body: FormData | object, signal?: AbortSignal): Promise<T> {
  const isForm = body instanceof FormData
  const answer = await fetch(`/api/v4${path}`, {
    method: 'POST',
    headers: { 'X-CSRF-Token': csrf, ...(!isForm && { 'Content-Type': 'application/json' }) },
    body: isForm ? body : JSON.stringify(body),
    signal: signal ?? null,
  })
  const isJson = answer.headers.get('content-type')?.startsWith('application/json')
  const content: unknown = isJson ? await answer.json() : await answer.text()
  if (!answer.ok) throw new Refused({ status: answer.status, headers: {}, body: content })
  return content as T
}

/** Renders Markdown on the server; references are resolved in the project. */
export const renderMarkdown = (csrf: string, text: string, project: string | null) =>
  post<Records['RenderedMarkdown']>('/markdown', csrf, { text, gfm: true, ...(project !== null && { project }) })

export function upload(csrf: string, project: string, file: File): Promise<Records['UploadResult']> {
  const form = new FormData()
  form.set('file', file, file.name)
  return post(`/projects/${encodeURIComponent(project)}/uploads`, csrf, form)
}

export const lint = (csrf: string, project: string, content: string, signal: AbortSignal) =>
  post<Records['Lint']>(`/projects/${encodeURIComponent(project)}/ci/lint`, csrf, { content }, signal)

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
