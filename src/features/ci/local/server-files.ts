/** Reads files of projects from a server through its API, for includes of projects and components. */
import { z } from 'zod'
import type { IncludeAnswer } from '../../../ci/config/context.ts'
import { componentIn, isVersion, versionAmong } from '../pipelines/components.ts'

export const LARGEST_FILE = 1024 * 1024
const DEADLINE_MS = 10_000
const LARGEST_ANSWER = 4 * 1024 * 1024
const PER_PAGE = 100
const MOST_PAGES = 50

const commit = z.object({ id: z.string().regex(/^[0-9a-f]{40,64}$/) })
const names = z.array(z.object({ name: z.string() }))
const entries = z.array(z.object({ path: z.string(), type: z.string() }))

export class ServerFiles {
  readonly #url: string
  readonly #token: string | null

  /** The token needs only read access. */
  constructor(url: string, token: string | null) {
    this.#url = url.replace(/\/+$/, '')
    this.#token = token
  }

  async file(project: string, ref: string | null, path: string): Promise<IncludeAnswer> {
    const found = await this.#commit(project, ref ?? 'HEAD')
    if (typeof found !== 'object') return { failure: found }
    const text = await this.#text(project, found.id, path)
    return text === null ? { failure: 'no_file' } : { text, tree: { project, sha: found.id } }
  }

  /** `host/group/project/name@version`. */
  async component(address: string): Promise<IncludeAnswer> {
    const input = componentIn(address, new URL(this.#url).host)
    if (!input) return { failure: 'no_project' }
    const { project, version } = input
    const tags = await this.#tags(project)
    const tag = input.isPart
      ? versionAmong(tags, version)
      : (tags.find((name) => name === version && isVersion(name)) ?? null)
    const ref = input.isPart ? tag : version
    const found = ref === null ? 'no_ref' : await this.#commit(project, ref)
    if (typeof found !== 'object') return { failure: found }
    for (const path of input.files) {
      const text = await this.#text(project, found.id, path)
      if (text === null) continue
      const component = { name: input.name, sha: found.id, version: tag, reference: version }
      return { text, tree: { project, sha: found.id }, component }
    }
    return { failure: 'no_file' }
  }

  /** All paths at a ref. Null if the project or ref does not exist, or the caller may not see it. */
  async paths(project: string, ref: string | null): Promise<string[] | null> {
    const found: string[] = []
    for (let page = 1; page <= MOST_PAGES; page++) {
      const query = new URLSearchParams({ recursive: 'true', per_page: String(PER_PAGE), page: String(page) })
      if (ref) query.set('ref', ref)
      const answer = await this.#get(`${at(project)}/repository/tree?${query}`)
      if (answer.text === null) return page === 1 ? null : found
      const some = entries.parse(JSON.parse(answer.text))
      found.push(...some.filter(({ type }) => type === 'blob').map(({ path }) => path))
      if (some.length < PER_PAGE) break
    }
    return found
  }

  async #commit(project: string, ref: string): Promise<{ id: string } | 'no_project' | 'no_ref' | 'unreachable'> {
    const answer = await this.#get(`${at(project)}/repository/commits/${encodeURIComponent(ref)}`)
    if (answer.text !== null) return commit.parse(JSON.parse(answer.text))
    if (answer.status === 0) return 'unreachable'
    return (await this.#get(at(project))).text === null ? 'no_project' : 'no_ref'
  }

  async #text(project: string, ref: string, path: string): Promise<string | null> {
    const { text } = await this.#get(
      `${at(project)}/repository/files/${encodeURIComponent(path)}/raw?${new URLSearchParams({ ref })}`,
    )
    return text !== null && text.length <= LARGEST_FILE ? text : null
  }

  async #tags(project: string): Promise<string[]> {
    const { text } = await this.#get(`${at(project)}/repository/tags?per_page=${PER_PAGE}&order_by=version`)
    return text === null ? [] : names.parse(JSON.parse(text)).map(({ name }) => name)
  }

  /** Sends the token only to the configured server, never to a redirect target. */
  async #get(path: string): Promise<{ status: number; text: string | null }> {
    const headers: Record<string, string> = this.#token ? { 'PRIVATE-TOKEN': this.#token } : {}
    try {
      const answer = await fetch(`${this.#url}/api/v4${path}`, {
        headers,
        redirect: 'error',
        signal: AbortSignal.timeout(DEADLINE_MS),
      })
      const chunks: Uint8Array[] = []
      let size = 0
      for await (const chunk of answer.body ?? []) {
        size += chunk.length
        if (size > LARGEST_ANSWER) return { status: 0, text: null }
        chunks.push(chunk)
      }
      return { status: answer.status, text: answer.ok ? Buffer.concat(chunks).toString('utf8') : null }
    } catch {
      return { status: 0, text: null }
    }
  }
}

const at = (project: string) => `/projects/${encodeURIComponent(project)}`
