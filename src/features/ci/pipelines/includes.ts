/** Reads includes of a configuration from repositories, templates, URLs and artifacts. */
import { createHash } from 'node:crypto'
import type { Include, IncludeAnswer, Tree } from '../../../ci/config/context.ts'
import type { App, User } from '../../../context.ts'
import { resolveCommit } from '../../../git/objects/commits.ts'
import { readObject } from '../../../git/objects/objects.ts'
import { entryAt, isFile } from '../../../git/objects/trees.ts'
import { listTags, resolveRef } from '../../../git/refs/refs.ts'
import { fetchText } from '../../../outbound/fetch.ts'
import { outboundProxy } from '../../instance/settings/outbound.ts'
import { findTemplate } from '../../instance/templates/queries.ts'
import { guardFor } from '../../projects/imports/service.ts'
import { pathWithNamespace } from '../../projects/projects/queries.ts'
import { repositoryPolicy, type RepositorySubject } from '../../repository/repositories/policy.ts'
import { findRepositorySubject } from '../../repository/repositories/queries.ts'
import { componentIn, isVersion, versionAmong, type ComponentRequest } from './components.ts'

export const LARGEST_FILE = 1024 * 1024
const FETCH_DEADLINE_MS = 10_000

/** Reads includes for one pipeline, with the read permissions of its user. */
export class IncludeReader {
  readonly #app: App
  readonly #viewer: User | null
  readonly #known = new Map<string, Promise<RepositorySubject | null>>()
  readonly #artifact: (include: Extract<Include, { type: 'artifact' }>) => Promise<string | null>

  constructor(
    app: App,
    viewer: User | null,
    own: RepositorySubject,
    artifact: (include: Extract<Include, { type: 'artifact' }>) => Promise<string | null> = async () => null,
  ) {
    this.#app = app
    this.#viewer = viewer
    this.#artifact = artifact
    // A user who may run pipelines of the project does not need permission to read its configuration.
    this.#known.set(pathOf(own).toLowerCase(), Promise.resolve(own))
  }

  /** Null if the project does not exist, or the user may not read it. */
  project(path: string): Promise<RepositorySubject | null> {
    const key = path.replace(/^\//, '').toLowerCase()
    const known = this.#known.get(key) ?? this.#find(key)
    this.#known.set(key, known)
    return known
  }

  async #find(path: string): Promise<RepositorySubject | null> {
    if (/^\d+$/.test(path)) return null
    const found = await findRepositorySubject(this.#app, path, this.#viewer)
    return found && repositoryPolicy.read(found) && repositoryPolicy.download(found) ? found : null
  }

  read = async (include: Include, from: Tree | null): Promise<IncludeAnswer> => {
    switch (include.type) {
      case 'local':
        return from === null ? { failure: 'no_file' } : this.#fileOf(from.project, from.sha, include.path)
      case 'project':
        return this.#fileOf(include.project, include.ref, include.path)
      case 'remote':
        return this.#remote(include.url, include.integrity)
      case 'template': {
        const template = await findTemplate('gitlab_ci_ymls', include.name.replace(/\.gitlab-ci\.yml$/, ''))
        return template ? { text: template.content, tree: null } : { failure: 'no_file' }
      }
      case 'component':
        return this.#component(include.address)
      case 'artifact': {
        const text = await this.#artifact(include)
        return text === null ? { failure: 'no_file' } : { text, tree: from }
      }
    }
  }

  async #fileOf(path: string, ref: string | null, file: string): Promise<IncludeAnswer> {
    const found = await this.project(path)
    if (!found) return { failure: 'no_project' }
    const sha = await resolveCommit(found.dir, ref ?? 'HEAD')
    if (sha === null) return { failure: 'no_ref' }
    const text = await fileAt(found.dir, sha, file)
    return text === null ? { failure: 'no_file' } : { text, tree: { project: pathOf(found), sha } }
  }

  async #remote(url: string, integrity: string | null): Promise<IncludeAnswer> {
    const answer = await fetchText(url, {
      guard: await guardFor(this.#app),
      proxy: outboundProxy(this.#app),
      maxBytes: LARGEST_FILE,
      deadline: FETCH_DEADLINE_MS,
    })
    if ('failure' in answer) return answer
    const digest = `sha256-${createHash('sha256').update(answer.text).digest('base64')}`
    return integrity !== null && integrity !== digest ? { failure: 'integrity' } : { text: answer.text, tree: null }
  }

  async #component(address: string): Promise<IncludeAnswer> {
    const input = componentIn(address, new URL(this.#app.url).host)
    const found = input && (await this.project(input.project))
    if (!found) return { failure: 'no_project' }
    const tag = await tagOf(found.dir, input)
    const ref = input.isPart ? tag : input.version
    const sha = ref === null ? null : await resolveCommit(found.dir, tag === null ? ref : `refs/tags/${tag}`)
    if (sha === null) return { failure: 'no_ref' }
    for (const file of input.files) {
      const text = await fileAt(found.dir, sha, file)
      if (text === null) continue
      const component = { name: input.name, sha, version: tag, reference: input.version }
      return { text, tree: { project: pathOf(found), sha }, component }
    }
    return { failure: 'no_file' }
  }
}

const pathOf = ({ project, namespace }: RepositorySubject) => pathWithNamespace(project, namespace)

/** The tag of the version. Null for a branch, a commit or an unknown version. */
async function tagOf(dir: string, { version, isPart }: ComponentRequest): Promise<string | null> {
  if (!isPart) return isVersion(version) && (await resolveRef(dir, `refs/tags/${version}`)) ? version : null
  const { items } = await listTags(dir, { order: 'version_desc' })
  return versionAmong(
    items.map(({ name }) => name),
    version,
  )
}

/** The text of a file at a commit. Null if the file does not exist or is too large. */
export async function fileAt(dir: string, sha: string, path: string): Promise<string | null> {
  const entry = await entryAt(dir, sha, path)
  if (!entry || !isFile(entry)) return null
  const blob = await readObject(dir, entry.id, { maxBytes: LARGEST_FILE })
  return blob?.content ? blob.content.toString('utf8') : null
}
