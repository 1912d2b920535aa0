/**
 * Reads includes on a developer's machine: from the working copy, templates, URLs, and a server if one is configured.
 */
import { createHash } from 'node:crypto'
import { lstat, readFile, realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Include, IncludeAnswer, Tree } from '../../../ci/config/context.ts'
import { nullIfMissing } from '../../../lib/files/system-errors.ts'
import { fetchText } from '../../../outbound/fetch.ts'
import { findTemplate } from '../../instance/templates/queries.ts'
import { LARGEST_FILE, type ServerFiles } from './server-files.ts'
import type { WorkingCopy } from './working-copy.ts'

const FETCH_DEADLINE_MS = 10_000

export interface IncludeSources {
  readonly copy: WorkingCopy
  /** Null: includes from a server cannot be read. */
  readonly server: ServerFiles | null
  /** Whether a file may make this process send requests to the local network. */
  readonly allowLocal: boolean
  /** Reads a file from the artifacts of a job of this run. */
  readonly artifact?: ((include: Extract<Include, { type: 'artifact' }>) => Promise<string | null>) | undefined
}

export async function readIncludeHere(
  include: Include,
  from: Tree | null,
  { copy, server, allowLocal, artifact }: IncludeSources,
): Promise<IncludeAnswer> {
  switch (include.type) {
    case 'local': {
      if (from !== null && !isHere(copy, from))
        return server ? server.file(from.project, from.sha, include.path) : { failure: 'no_server' }
      const text = from === null ? null : await readHere(copy.root, include.path)
      return text === null ? { failure: 'no_file' } : { text, tree: from }
    }
    case 'project':
      // This applies to the own project at another commit, too: the working copy has only its own files.
      return server ? server.file(include.project, include.ref, include.path) : { failure: 'no_server' }
    case 'component':
      return server ? server.component(include.address) : { failure: 'no_server' }
    case 'remote': {
      const guard = { allowLocal }
      const answer = await fetchText(include.url, { guard, maxBytes: LARGEST_FILE, deadline: FETCH_DEADLINE_MS })
      if ('failure' in answer) return answer
      const digest = `sha256-${createHash('sha256').update(answer.text).digest('base64')}`
      const isMeant = include.integrity === null || include.integrity === digest
      return isMeant ? { text: answer.text, tree: null } : { failure: 'integrity' }
    }
    case 'template': {
      const template = await findTemplate('gitlab_ci_ymls', include.name.replace(/\.gitlab-ci\.yml$/, ''))
      return template ? { text: template.content, tree: null } : { failure: 'no_file' }
    }
    case 'artifact': {
      const text = (await artifact?.(include)) ?? null
      return text === null ? { failure: 'no_file' } : { text, tree: from }
    }
  }
}

/** Whether the tree is the working copy: neither another project nor another commit of this one. */
export const isHere = (copy: WorkingCopy, { project, sha }: Tree): boolean =>
  project === copy.project && sha === copy.sha

/** Reads a file of the working copy. Symbolic links, and files behind them, do not count. */
export async function readHere(root: string, path: string): Promise<string | null> {
  const file = join(root, path)
  const found = path.includes('\0') ? null : await lstat(file).catch(nullIfMissing)
  if (!found?.isFile() || found.size > LARGEST_FILE) return null
  const inside = relative(await realpath(root), await realpath(file))
  return inside.startsWith('../') || inside.split('/')[0] === '.git' ? null : readFile(file, 'utf8')
}
