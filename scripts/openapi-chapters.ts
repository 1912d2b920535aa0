/**
 * The committed OpenAPI document is split, so that a change shows in the file of its chapter: `document.json` has what
 * all chapters share, `records.json` the schemas of answers, `webhooks.json` the payloads, and `chapters/` one file per
 * family with its operations and inputs.
 */
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

type Json = Record<string, unknown>
type Paths = Record<string, Record<string, { tags: string[] }>>

interface OpenApi {
  tags: { name: string }[]
  paths: Paths
  webhooks: Json
  components: { schemas: Json }
}

interface Chapter {
  paths: Paths
  schemas: Json
}

export const FOLDER = join(import.meta.dirname, '../openapi')

/** Gpg keys → chapters/gpg-keys.json */
const fileOf = (tag: string) => `chapters/${tag.toLowerCase().replaceAll(' ', '-')}.json`

/** The names of all records begin with a capital, those of inputs with the name of their family. */
const isInput = (name: string) => name.endsWith('_input')
const tagOf = (input: string, tags: OpenApi['tags']) => {
  const family = input.slice(0, input.indexOf('_')).toLowerCase()
  return tags.find(({ name }) => name.replaceAll(' ', '').toLowerCase() === family)!.name
}

/** The texts of the files by name. */
export function split(document: unknown): Map<string, string> {
  const { paths, webhooks, components, ...head } = document as OpenApi
  const { schemas, ...shared } = components
  const files = new Map<string, object>([
    ['document.json', { ...head, components: shared }],
    ['records.json', Object.fromEntries(Object.entries(schemas).filter(([name]) => !isInput(name)))],
    ['webhooks.json', webhooks],
  ])
  const chapters = new Map(head.tags.map(({ name }): [string, Chapter] => [name, { paths: {}, schemas: {} }]))
  for (const [path, operations] of Object.entries(paths))
    for (const [method, operation] of Object.entries(operations))
      (chapters.get(operation.tags[0]!)!.paths[path] ??= {})[method] = operation
  for (const [name, schema] of Object.entries(schemas))
    if (isInput(name)) chapters.get(tagOf(name, head.tags))!.schemas[name] = schema
  for (const [tag, chapter] of chapters) files.set(fileOf(tag), chapter)
  return new Map(Array.from(files, ([name, part]) => [name, `${JSON.stringify(part, null, 2)}\n`]))
}

export const committedFiles = (): string[] => globSync('**/*.json', { cwd: FOLDER })

/** The whole document from the committed files: equal to the one that the server generates, in the same order. */
export async function bundle(): Promise<OpenApi> {
  const read = async <T>(name: string) => JSON.parse(await readFile(join(FOLDER, name), 'utf8')) as T
  const { components, ...head } = await read<Omit<OpenApi, 'components'> & { components: Json }>('document.json')
  const chapters = await Promise.all(head.tags.map(({ name }) => read<Chapter>(fileOf(name))))
  const paths: Paths = {}
  for (const chapter of chapters)
    for (const [path, operations] of Object.entries(chapter.paths)) paths[path] = { ...paths[path], ...operations }
  const schemas = Object.assign({}, await read<Json>('records.json'), ...chapters.map((one) => one.schemas)) as Json
  const sorted = Object.fromEntries(Object.entries(schemas).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  const webhooks = await read<Json>('webhooks.json')
  return { ...head, paths, webhooks, components: { schemas: sorted, ...components } }
}
