/** The files of a snippet: a few texts, whose names are paths. Pure functions. */
import { badParameter, invalid, taken, type Refusal } from '../../../errors.ts'
import { BLANK, tooLong } from '../../../lib/text/faults.ts'
import { LONGEST_TITLE } from '../titles.ts'
import type { SnippetFile } from './model.ts'

export const MOST_FILES = 10

/** The name of a file without a name. */
const UNNAMED = 'snippetfile1.txt'

export type FileAction = 'create' | 'update' | 'delete' | 'move'

export interface FileChange {
  action: FileAction
  file_path?: string | null | undefined
  previous_path?: string | null | undefined
  content?: string | null | undefined
}

// oxlint-disable-next-line no-control-regex -- the pattern matches control characters
const MISLEADING = /[\\\0-\x1f\x7f]/

const isPath = (path: string) =>
  !MISLEADING.test(path) && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')

export function assertValidFiles(files: readonly SnippetFile[]): void {
  if (files.length === 0) throw invalid({ content: [BLANK] })
  if (files.length > MOST_FILES) throw badParameter(`files can have at most ${MOST_FILES} entries`)
  if (new Set(files.map(({ path }) => path)).size < files.length) throw taken('file_name')
  for (const { path, content } of files) {
    if (path.length > LONGEST_TITLE) throw invalid({ file_name: [tooLong(LONGEST_TITLE)] })
    if (!isPath(path)) throw invalid({ file_name: ['is invalid'] })
    if (content.trim() === '') throw invalid({ content: [BLANK] })
  }
}

export interface NewFiles {
  file_name?: string | null | undefined
  content?: string | null | undefined
  files?: readonly { file_path: string; content: string }[] | null | undefined
}

/** The files of the input: several, or one by name and content. */
export function filesFrom({ file_name, content, files }: NewFiles): SnippetFile[] {
  if (files) return files.map((file) => ({ path: file.file_path, content: file.content }))
  return [{ path: file_name || UNNAMED, content: content ?? '' }]
}

export interface FilesChange {
  file_name?: string | null | undefined
  content?: string | null | undefined
  files?: readonly FileChange[] | null | undefined
}

export const touchesFiles = ({ file_name, content, files }: FilesChange): boolean =>
  Boolean(files) || typeof file_name === 'string' || typeof content === 'string'

/** The files after a change. */
export function changedFiles(before: readonly SnippetFile[], change: FilesChange): readonly SnippetFile[] {
  const { file_name, content, files } = change
  if (files) return files.reduce(applied, before)
  const [first, ...more] = before
  if (!first || more.length > 0) {
    throw badParameter('To update a snippet with multiple files, you must use the `files` parameter')
  }
  return [{ path: file_name || first.path, content: content ?? first.content }]
}

function applied(files: readonly SnippetFile[], change: FileChange): readonly SnippetFile[] {
  const { action, file_path: path, previous_path, content } = change
  if (!path) throw badParameter('files[file_path] is missing')
  const has = (name: string) => files.some((file) => file.path === name)
  const altered = (name: string, file: Partial<SnippetFile>) => {
    if (!has(name)) throw unknown(name)
    return files.map((one) => (one.path === name ? { ...one, ...file } : one))
  }
  switch (action) {
    case 'create':
      return [...files, { path, content: content ?? '' }]
    case 'update':
      return altered(path, { content: content ?? '' })
    case 'move':
      if (!previous_path) throw badParameter('files[previous_path] is missing')
      return altered(previous_path, { path, ...(typeof content === 'string' && { content }) })
    case 'delete':
      if (!has(path)) throw unknown(path)
      return files.filter((file) => file.path !== path)
  }
}

const unknown = (path: string): Refusal => invalid({ files: [`${path.slice(0, LONGEST_TITLE)} does not exist`] })
