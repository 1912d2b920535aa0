// Types of all inputs and outputs of the API, for the pages: `node scripts/web-types.ts` creates web/schema.ts from
// `openapi/`. The document is our own, so only the features it uses are supported here.
import { writeFile } from 'node:fs/promises'
import { bundle } from './openapi-chapters.ts'

interface Schema {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  items?: Schema
  prefixItems?: Schema[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  format?: string
}

interface Parameter {
  $ref?: string
  name: string
  in: string
  schema: Schema
}

interface Operation {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> }
}

const nameOf = (ref: string) => ref.split('/').at(-1)!
const union = (types: string[]) => [...new Set(types)].join(' | ') || 'never'

function typeOf(schema: Schema): string {
  if (schema.$ref) return `schemas[${JSON.stringify(nameOf(schema.$ref))}]`
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)))
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return `(${union(choices.map(typeOf))})`
  if (schema.allOf) return `(${schema.allOf.map(typeOf).join(' & ')})`
  if (Array.isArray(schema.type)) return `(${union(schema.type.map((type) => typeOf({ ...schema, type })))})`
  if (schema.type === 'array') return schema.items ? `(${typeOf(schema.items)})[]` : 'unknown[]'
  if (schema.type === 'object') return objectOf(schema)
  if (schema.type === 'integer' || schema.type === 'number') return 'number'
  if (schema.format === 'binary') return 'Blob'
  return schema.type ?? 'unknown'
}

function objectOf({ properties, required = [], additionalProperties }: Schema): string {
  const others = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'
  if (!properties) return `Record<string, ${others}>`
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  )
  return `{ ${fields.join('; ')} }`
}

/** If a smaller record can be requested, the first alternative is the default answer. */
function fullest(schema: Schema): Schema {
  const [first] = schema.anyOf ?? []
  if (first?.$ref && schema.anyOf!.every(({ $ref }) => $ref)) return first
  return schema.items ? { ...schema, items: fullest(schema.items) } : schema
}

function callOf({ components }: Document, { parameters = [], requestBody, responses }: Operation): string {
  const all = parameters.map((one) => (one.$ref ? components.parameters[nameOf(one.$ref)]! : one))
  const inPath = all.filter((one) => one.in === 'path').map(({ name }) => `${JSON.stringify(name)}: string | number`)
  const inQuery = all
    .filter((one) => one.in === 'query')
    .map(({ name, schema }) => `${JSON.stringify(name)}?: ${typeOf(schema)}`)
  const body = requestBody && Object.values(requestBody.content)[0]!.schema
  const params = `{ ${[...inPath, ...inQuery].join('; ')} }${body ? ` & ${typeOf(body)}` : ''}`
  const answered = (responses['200'] ?? responses['201'] ?? responses['202'])?.content?.['application/json']?.schema
  return `{ params: ${params}; answer: ${answered ? typeOf(fullest(answered)) : 'undefined'} }`
}

const document = (await bundle()) as unknown as Document
const schemas = Object.entries(document.components.schemas).map(
  ([name, schema]) => `  ${JSON.stringify(name)}: ${typeOf(schema)}`,
)
const verbs = ['get', 'post', 'put', 'patch', 'delete'].map((verb) => {
  const paths = Object.entries(document.paths).filter(([, operations]) => operations[verb])
  const calls = paths.map(([path, operations]) => `    ${JSON.stringify(path)}: ${callOf(document, operations[verb]!)}`)
  return `  ${verb}: {\n${calls.join('\n')}\n  }`
})
const text = `/** Made of openapi/ by scripts/web-types.ts. */
export interface schemas {
${schemas.join('\n')}
}

export interface calls {
${verbs.join('\n')}
}
`
await writeFile('web/schema.ts', text)
