/** The input of snippets, for both paths. */
import { z } from 'zod'
import { arrayOf, filledText, longText, oneOf, text } from '../../../api/wire.ts'
import { badParameter } from '../../../errors.ts'
import { VISIBILITIES } from '../../../lib/levels.ts'
import { MOST_FILES, type FileChange } from './files.ts'

export const visibility = oneOf(...VISIBILITIES)

const common = { file_name: text.nullish(), content: longText.nullish(), description: text.nullish() }

const newFile = z.object({ file_path: filledText, content: longText })

const fileChange = z.object({
  action: oneOf('create', 'update', 'delete', 'move'),
  file_path: text.nullish(),
  previous_path: text.nullish(),
  content: longText.nullish(),
})

export const creation = { title: text, ...common, files: arrayOf(newFile, MOST_FILES).nullish() }

export const changes = {
  title: text.nullish(),
  ...common,
  visibility: visibility.nullish(),
  files: arrayOf(fileChange, 2 * MOST_FILES).nullish(),
}

/** The older name of `content` for project snippets. */
export const code = longText.nullish()

interface Input {
  file_name?: string | null | undefined
  content?: string | null | undefined
  files?: readonly (FileChange | z.infer<typeof newFile>)[] | null | undefined
}

const isGiven = (value: unknown) => value !== null && value !== undefined

function assertOneWay({ file_name, content, files }: Input): void {
  if (isGiven(files) && isGiven(content)) throw badParameter('content, files are mutually exclusive')
  if (isGiven(files) && isGiven(file_name)) throw badParameter('file_name, files are mutually exclusive')
}

/** `name` is the parameter for the content on this path. */
export function assertNew(given: Input, name: 'content' | 'code'): void {
  assertOneWay(given)
  if (!isGiven(given.files) && !isGiven(given.content)) throw badParameter(`${name} is missing`)
}

export function assertChange(given: Input & Record<string, unknown>, names: readonly string[]): void {
  assertOneWay(given)
  if (names.some((name) => given[name] !== undefined)) return
  throw badParameter(`${names.join(', ')} are missing, at least one parameter must be provided`)
}
