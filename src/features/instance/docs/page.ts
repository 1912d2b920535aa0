/** The OpenAPI document as plain HTML, without scripts and third-party files. */
import { html, type Html, type Part } from '../../../lib/text/html.ts'

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>

interface Answer {
  readonly $ref?: string
  readonly description?: string
  readonly content?: Content
}

interface Operation {
  readonly tags: readonly [string]
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Answer>>
}

interface Reference {
  readonly $ref: string
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly schema: Schema
}

interface WebhookOperation extends Pick<Operation, 'operationId' | 'summary' | 'description'> {
  readonly requestBody: { readonly content: Readonly<Record<string, { readonly example: unknown }>> }
}

export interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: WebhookOperation }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly responses: Readonly<Record<string, Answer>>
  }
}

/** An operation with its method and path, and with all references resolved except the records it answers with. */
interface Positioned extends Pick<Operation, 'tags' | 'operationId' | 'summary' | 'description' | 'responses'> {
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly body: { readonly type: string; readonly schema: Schema } | null
}

/** The page of records; families have pages under their names. */
const RECORDS = 'records'
/** The page of webhook payload examples. */
const WEBHOOKS = 'webhooks'

const slugOf = (tag: string) => tag.toLowerCase().replaceAll(' ', '-')
const nameOf = ($ref: string) => $ref.slice($ref.lastIndexOf('/') + 1)
/** The fields of a form are shown with its operation, so a form is not listed as a record. */
const isForm = (name: string) => name.endsWith('_input')

/** Each page by the last part of its URL; `''` is the index. */
export function docsPages(document: OpenApi, url: string): Map<string, string> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => positioned(one, method.toUpperCase(), path, document)),
  )
  const records = Object.entries(document.components.schemas).filter(([name]) => !isForm(name))
  const families = document.tags.map(({ name }) => ({
    name,
    slug: slugOf(name),
    operations: operations.filter(({ tags }) => tags[0] === name),
  }))
  const frame = (title: string, body: Part) => String(pageOf(title, document.info.version, body))
  const pages = families.map(({ name, slug, operations: own }): [string, string] => [
    slug,
    frame(
      name,
      own.map((one) => operationPart(one, document, url)),
    ),
  ])
  return new Map([
    ['', frame(document.info.title, indexPart(document, families, url))],
    [RECORDS, frame('Records', records.map(recordPart))],
    [WEBHOOKS, frame('Webhooks', Object.values(document.webhooks).map(webhookPart))],
    ...pages,
  ])
}

function positioned(operation: Operation, method: string, path: string, { components }: OpenApi): Positioned {
  const { parameters = [], requestBody, ...rest } = operation
  const [type, { schema } = { schema: {} }] = Object.entries(requestBody?.content ?? {})[0] ?? []
  return {
    ...rest,
    method,
    path,
    parameters: parameters.map((one) => ('$ref' in one ? components.parameters[nameOf(one.$ref)]! : one)),
    body: type ? { type, schema: schema.$ref ? components.schemas[nameOf(schema.$ref)]! : schema } : null,
  }
}

const pageOf = (title: string, version: string, body: Part): Html =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Mortise ${version}</title>
        <link rel="stylesheet" href="/api/docs/style.css" />
      </head>
      <body>
        <h1>${title}</h1>
        ${body}
      </body>
    </html> `

/** Text between backticks is code. */
const worded = (text: string): Part =>
  text.split('`').map((part, n) => (n % 2 === 1 ? html`<code>${part}</code>` : part))

interface Family {
  readonly name: string
  readonly slug: string
  readonly operations: readonly Positioned[]
}

const indexPart = ({ info }: OpenApi, families: readonly Family[], url: string) =>
  html`<p>${worded(info.description)}</p>
    <p>
      A token goes into the header <code>PRIVATE-TOKEN</code>, or as <code>Authorization: Bearer</code>. For programs
      the same is in <code>${url}/api/openapi.json</code>. <a href="/api/docs/${RECORDS}">Records</a> lists what is
      answered, <a href="/api/docs/${WEBHOOKS}">Webhooks</a> what hooks send.
    </p>
    ${families.map(
      ({ name, slug, operations }) =>
        html`<h2><a href="/api/docs/${slug}">${name}</a></h2>
          <table>
            ${operations.map(
              ({ method, path, operationId, summary }) =>
                html`<tr>
                  <td><code>${method}</code></td>
                  <td>
                    <a href="/api/docs/${slug}#${operationId}"><code>${path}</code></a>
                  </td>
                  <td>${summary}</td>
                </tr> `,
            )}
          </table>`,
    )}`

function operationPart(operation: Positioned, { components }: OpenApi, url: string): Html {
  const { operationId, method, path, summary, description, parameters, body, responses } = operation
  const fields = [
    ...parameters.flatMap(({ name, schema, required, in: where }) => fieldsOf(name, schema, required, where)),
    ...propertiesOf(body?.schema ?? {}, '', 'body'),
  ]
  return html`<section id="${operationId}">
    <h2>${summary}</h2>
    <p><code>${method} ${path}</code></p>
    <p>${worded(description)}</p>
    ${fieldTable(fields)}
    <table>
      ${Object.entries(responses).map(([status, answer]) => answerRow(status, answer, components.responses))}
    </table>
    <pre>${curlOf(operation, url)}</pre>
  </section>`
}

function answerRow(status: string, answer: Answer, known: OpenApi['components']['responses']): Html {
  const { description, content } = answer.$ref ? known[nameOf(answer.$ref)]! : answer
  const schema = Object.values(content ?? {})[0]?.schema
  return html`<tr>
    <td>${status}</td>
    <td>${description}</td>
    <td>${schema && typeOf(schema)}</td>
  </tr> `
}

const recordPart = ([name, schema]: [string, Schema]) =>
  html`<section id="${name}">
    <h2>${name}</h2>
    ${fieldTable(propertiesOf(schema))}
  </section>`

const webhookPart = ({ post: { operationId, summary, description, requestBody } }: OpenApi['webhooks'][string]) =>
  html`<section id="${operationId}">
    <h2>${summary}</h2>
    <p>${worded(description)}</p>
    <pre>${JSON.stringify(requestBody.content['application/json']!.example, null, 2)}</pre>
  </section>`

interface Field {
  readonly name: string
  readonly type: Part
  readonly required: boolean
  readonly where?: string | undefined
}

const fieldTable = (fields: readonly Field[]) =>
  fields.length > 0 &&
  html`<table>
    ${fields.map(
      ({ name, type, required, where }) =>
        html`<tr>
          <td><code>${name}</code></td>
          <td>${type}</td>
          <td>${where} ${where && required && 'required'}</td>
        </tr> `,
    )}
  </table>`

const propertiesOf = ({ properties = {}, required = [] }: Schema, before = '', where?: string): Field[] =>
  Object.entries(properties).flatMap(([name, schema]) =>
    fieldsOf(before + name, schema, required.includes(name), where),
  )

/** An unnamed schema is expanded field by field below the field that contains it. */
function fieldsOf(name: string, schema: Schema, required: boolean, where?: string): Field[] {
  const alternatives = schema.anyOf ?? schema.oneOf ?? [schema]
  const inner = alternatives.flatMap((one) => [
    ...propertiesOf(one, `${name}.`, where),
    ...propertiesOf(one.items ?? {}, `${name}[].`, where),
  ])
  return [{ name, type: typeOf(schema), required, where }, ...inner]
}

function typeOf(schema: Schema): Part {
  const { $ref, type, format, items, additionalProperties: rest } = schema
  if ($ref) return html`<a href="/api/docs/${RECORDS}#${nameOf($ref)}">${nameOf($ref)}</a>`
  if ('const' in schema) return JSON.stringify(schema.const)
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives) return joined(alternatives.map(typeOf))
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (items) return html`list of ${typeOf(items)}`
  if (typeof rest === 'object' && Object.keys(rest).length > 0) return html`map of ${typeOf(rest)}`
  const text = [type ?? 'anything'].flat().join(' | ')
  return format ? `${text} (${format})` : text
}

const joined = (parts: readonly Part[]): Part => parts.flatMap((part, n) => (n === 0 ? [part] : [' | ', part]))

/** A curl command with the required parameters. */
function curlOf({ method, path, parameters, body }: Positioned, url: string): string {
  const query = parameters.filter((one) => one.in === 'query' && one.required).map(({ name }) => `${name}=…`)
  const flag = body?.type === 'multipart/form-data' ? '-F' : '-d'
  const data = (body?.schema.required ?? []).map((name) => ` ${flag} ${name}=…`)
  const address = `${url}/api/v4${path}${query.length > 0 ? `?${query.join('&')}` : ''}`
  return `curl -X ${method} -H "PRIVATE-TOKEN: $TOKEN"${data.join('')} '${address}'`
}

export const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d5d9e0, #3a3f4a); --quiet: light-dark(#5b6474, #a3abba);
  --accent: light-dark(#2456c7, #86a9ff); --soft: light-dark(#eef1f6, #1c1f26) }
body { max-width: 64rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif;
  background: light-dark(#fff, #121419); color: light-dark(#1d2330, #e8eaf0) }
h2 { margin: 2.5rem 0 .5rem; font-size: 1.25rem } a { color: var(--accent) }
code, pre { font-family: ui-monospace, monospace; font-size: .875rem }
pre { padding: .75rem; overflow-x: auto; background: var(--soft); border-radius: .5rem }
table { width: 100%; margin: .5rem 0 1rem; border-collapse: collapse }
td { padding: .25rem .75rem .25rem 0; border-top: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere }
td:last-child { color: var(--quiet) }
:target { scroll-margin-top: 1rem; outline: 2px solid var(--accent); outline-offset: .75rem; border-radius: .25rem }
`
