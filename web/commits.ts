/** Files edited in the browser: one commit, onto the current branch or a new one. */
import { Refused } from './api.ts'
import { text, type Act, type FormFields } from './page.ts'
import { queryText } from './query.ts'
import { locationAddress } from './refs.ts'
import * as t from './texts/repository.ts'

/** In the form that the API takes. */
interface FileAction {
  action: 'create' | 'update' | 'move' | 'delete'
  file_path: string
  previous_path?: string
  content?: string
  encoding?: 'text' | 'base64'
  last_commit_id?: string | null
}

/** Commits, and returns the URL of the next page: of a new merge request if one is wanted. */
export async function commitFiles({ api, params, form }: Act, actions: FileAction[], then: string): Promise<string> {
  const [branch, ref] = [text(form, 'branch'), text(form, 'ref')]
  const isNew = branch !== ref && ref !== ''
  await api.post('/projects/{id}/repository/commits', {
    id: params.id!,
    branch,
    commit_message: text(form, 'message'),
    ...(isNew && (text(form, 'is_branch') === 'true' ? { start_branch: ref } : { start_sha: text(form, 'sha') })),
    actions,
    stats: false,
  })
  const project = { path_with_namespace: params.id! }
  if (isNew && text(form, 'request') === 'true')
    return `/${params.id}/-/merge_requests/new?${queryText({ merge_request: { source_branch: branch } })}`
  return then === '' ? locationAddress(project, 'tree', branch) : locationAddress(project, 'blob', branch, then)
}

/** Restores the original line endings, because forms send CRLF. */
export function contentOf(form: FormFields): string {
  const content = text(form, 'content').replaceAll('\r\n', '\n')
  return text(form, 'endings') === 'crlf' ? content.replaceAll('\n', '\r\n') : content
}

/** A chosen file: in the browser a `File`, on the server the spooled upload. */
export async function uploadOf(form: FormFields, name: string): Promise<{ name: string; content: string }> {
  const file = form[name] as (Blob & { name?: string; filename?: string }) | string | undefined
  if (typeof file !== 'object' || file.size === 0)
    throw new Refused({ status: 400, headers: {}, body: { message: t.chooseFileToUpload } })
  return { name: file.name ?? file.filename ?? 'file', content: base64(new Uint8Array(await file.arrayBuffer())) }
}

const AT_ONCE = 0x8000

function base64(bytes: Uint8Array): string {
  let letters = ''
  for (let at = 0; at < bytes.length; at += AT_ONCE) letters += String.fromCharCode(...bytes.subarray(at, at + AT_ONCE))
  return btoa(letters)
}

/** Null if the content is no text. */
export function decodeText(content: string): string | null {
  const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))
  if (bytes.subarray(0, 8000).includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}
