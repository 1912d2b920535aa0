/** The OpenAPI 3.1 document, generated from the declarations that the server runs. */
import { z } from 'zod'
import { isCallableBy, isOfAgent, isTokenCredential, scopesOf } from './credentials.ts'
import type { Endpoint } from './endpoint.ts'
import { PageOf, pageInput } from './pages.ts'
import { LONGEST } from './wire.ts'

type Json = Record<string, unknown>
/** Endpoints by name, grouped by the name of their family. */
export type Families = Record<string, Record<string, Endpoint>>

/** The payload of a webhook, as an example. */
export interface Webhook {
  /** `X-Gitlab-Event`. */
  readonly header: string
  /** The event switch that a hook must have enabled; null for messages to every hook of the instance. */
  readonly switch: string | null
  readonly body: object
}

export type Webhooks = Readonly<Record<string, Webhook>>

export function openApiDocument(families: Families, version: string, webhooks: Webhooks = {}): Json {
  const schemas: Json = { Error: ERROR }
  const paths: Record<string, Json> = {}
  for (const [family, endpoints] of Object.entries(families)) {
    for (const [verb, endpoint] of Object.entries(endpoints)) {
      const path = templateOf(endpoint.path)
      const operationId = `${family}_${verb}`
      const operation = operationOf(endpoint, operationId, schemas)
      paths[path] = {
        ...paths[path],
        [endpoint.method.toLowerCase()]: { tags: [titleOf(family)], operationId, ...operation },
      }
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Mortise API',
      version,
      description:
        'The v4 REST API. Lists are paginated by `page` and `per_page` (20 by default, at most 100) and answer with ' +
        'X-Total and Link headers. Administrators may act as another user with `sudo`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/api/v4' }],
    tags: Object.keys(families).map((family) => ({ name: titleOf(family) })),
    security: SECURITY,
    paths,
    webhooks: Object.fromEntries(Object.entries(webhooks).map(([name, one]) => [name, { post: webhookOf(name, one) }])),
    components: {
      // Sorted by name: records first, then the inputs of each family. So the order does not depend on which endpoint
      // uses a record first.
      schemas: Object.fromEntries(Object.entries(schemas).toSorted(([one], [other]) => (one < other ? -1 : 1))),
      parameters: PARAMETERS,
      responses: RESPONSES,
      securitySchemes: { ...SCHEMES, job_token: apiKey('header', 'JOB-TOKEN'), ...tokenSchemesOf(families) },
    },
  }
}

function webhookOf(name: string, { header, switch: switchName, body }: Webhook): Json {
  return {
    operationId: `webhook_${name}`,
    summary: `${header}: ${name.replaceAll('_', ' ')}`,
    description: switchName === null ? 'For every hook of the instance.' : `For hooks with \`${switchName}\`.`,
    security: [],
    parameters: [
      { name: 'X-Gitlab-Event', in: 'header', required: true, schema: { type: 'string', const: header } },
      { name: 'Idempotency-Key', in: 'header', required: true, schema: { type: 'string' } },
    ],
    requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' }, example: body } } },
    responses: { 200: { description: 'Any answer below 500 but 429 ends the delivery' } },
  }
}

/** A hoisted function, because the tables below use it. */
function ref(kind: 'parameters' | 'responses' | 'schemas', name: string) {
  return { $ref: `#/components/${kind}/${name}` }
}

/** The router's `*`: the rest of a path with its slashes. OpenAPI needs a name for every parameter. */
const REST = { name: 'path', description: 'The rest of the address; it may hold slashes' }

/** `/users/:id(\\d+)` → `/users/{id}` */
export const templateOf = (path: string) =>
  path
    .replace(/\([^)]+\)/g, '')
    .replace(/:(\w+)/g, '{$1}')
    .replace(/\*$/, `{${REST.name}}`)

/** gpgKeys → Gpg keys */
const titleOf = (family: string) => {
  const words = family.replace(/([A-Z])/g, (c) => ` ${c.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const SCHEMES = {
  private_token: {
    type: 'apiKey',
    in: 'header',
    name: 'PRIVATE-TOKEN',
    description: 'Private, personal or impersonation token',
  },
  bearer: { type: 'http', scheme: 'bearer', description: 'OAuth 2.0 or personal token' },
  session: { type: 'apiKey', in: 'cookie', name: '_service_session' },
}
const SECURITY = Object.keys(SCHEMES).map((name) => ({ [name]: [] }))

function apiKey(where: 'header' | 'query', name: string) {
  return { type: 'apiKey', in: where, name }
}

const ERROR = {
  type: 'object',
  properties: {
    message: {
      description: 'A text, the field errors of a validation, or a list of texts',
      oneOf: [{ type: 'string' }, { type: 'object' }, { type: 'array', items: { type: 'string' } }],
    },
    error: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    error_description: { type: 'string' },
  },
}

const parameter = (name: string, where: 'path' | 'query', schema: Json) => ({
  name,
  in: where,
  required: where === 'path',
  schema,
})

/** Parameters that are the same everywhere. The list is fixed, so a new parameter of one family changes no other. */
const PARAMETERS = {
  id: parameter('id', 'path', { type: 'integer', minimum: 1 }),
  id_or_path: parameter('id', 'path', { type: 'string', maxLength: LONGEST.text }),
  page: parameter('page', 'query', { type: ['integer', 'null'] }),
  per_page: parameter('per_page', 'query', { type: ['integer', 'null'] }),
  search: parameter('search', 'query', {
    anyOf: [{ type: 'string', maxLength: LONGEST.text }, { type: 'null' }],
  }),
  sort: parameter('sort', 'query', { anyOf: [{ type: 'string', enum: ['asc', 'desc'] }, { type: 'null' }] }),
  user_id: parameter('user_id', 'path', { type: 'integer', minimum: 1 }),
}
const SHARED = new Map(Object.entries(PARAMETERS).map(([key, one]) => [JSON.stringify(one), ref('parameters', key)]))

const refusal = (description: string) => ({
  description,
  content: { 'application/json': { schema: ref('schemas', 'Error') } },
})

const RESPONSES = {
  BadRequest: refusal('A parameter is missing or not valid'),
  Unauthorized: refusal('No credential, or not a valid one'),
  Forbidden: refusal('Not allowed'),
  NotFound: refusal('Not there, or not to be seen'),
}

const WHO: Record<string, string> = {
  anyone: 'Anyone, also without a credential.',
  signed_in: 'Any signed-in user.',
  administrator: 'Administrators only.',
}

function operationOf(endpoint: Endpoint, operationId: string, schemas: Json): Json {
  const { method, output, summary } = endpoint
  const fields = fieldsOf(endpoint)
  const inPath = (name: string) => (name === '*' ? endpoint.path.endsWith('*') : pathNames(endpoint).includes(name))
  const asParameter = method === 'GET' || method === 'DELETE'
  const parameters = fields
    .filter(({ name }) => inPath(name) || asParameter)
    .map(({ name, schema, required }) => ({
      ...(name === '*' ? REST : { name }),
      in: inPath(name) ? 'path' : 'query',
      required: inPath(name) || required,
      schema: jsonSchema(schema, schemas),
    }))
    .map((one) => SHARED.get(JSON.stringify(one)) ?? one)
  const body = fields.filter(({ name }) => !inPath(name) && !asParameter)
  return {
    summary,
    description: descriptionOf(endpoint),
    ...securityOf(endpoint),
    ...(parameters.length > 0 && { parameters }),
    ...(body.length > 0 && { requestBody: requestBody(body, `${operationId}_input`, schemas) }),
    responses: {
      ...successOf(endpoint, schemas),
      ...(fields.length > 0 && { 400: ref('responses', 'BadRequest') }),
      ...refusalsOf(endpoint),
    },
    ...(output instanceof PageOf && { 'x-paginated': true }),
  }
}

const REFUSALS = { 401: 'Unauthorized', 403: 'Forbidden', 404: 'NotFound' } as const

/** Agents show no credential of a user, which would be checked before the token. */
function refusalsOf({ allow, by, on }: Endpoint): Json {
  const statuses: (keyof typeof REFUSALS)[] = isTokenCredential(by) ? [...by.refusals] : allow === 'anyone' ? [] : [403]
  if (!isOfAgent(by)) statuses.push(401)
  if (on) statuses.push(404)
  return Object.fromEntries(statuses.map((status) => [status, ref('responses', REFUSALS[status])]))
}

function descriptionOf(endpoint: Endpoint): string {
  const { allow, by, alsoAsks = [], inPerson } = endpoint
  const more = alsoAsks.map((right) => ` Also needs the right to ${right}.`).join('')
  if (isTokenCredential(by)) return by.callers + more
  const isOpen = isCallableBy(endpoint, 'visitor')
  const who = WHO[allow] ?? `Needs the ability to \`${allow}\`${isOpen ? '; public ones are open to anyone' : ''}.`
  return `${who}${more}${inPerson ? ' Not with `sudo`.' : ''} Scopes: ${scopesOf(endpoint).join(', ')}.`
}

/** Nothing for endpoints of users, which the document names once for all. */
function securityOf(endpoint: Endpoint): Json {
  if (isTokenCredential(endpoint.by)) return { security: [{ [endpoint.by.name]: [] }] }
  const [isOpen, isForJobs] = [isCallableBy(endpoint, 'visitor'), isCallableBy(endpoint, 'job')]
  if (!isOpen && !isForJobs) return {}
  return { security: [...(isOpen ? [{}] : []), ...SECURITY, ...(isForJobs ? [{ job_token: [] }] : [])] }
}

/** The tokens of callers that are no users. */
const tokenSchemesOf = (families: Families): Json =>
  Object.fromEntries(
    Object.values(families)
      .flatMap((endpoints) => Object.values(endpoints))
      .flatMap(({ by }) => (isTokenCredential(by) ? [by] : []))
      .map(({ name, header }) => [name, header ? apiKey('header', header) : apiKey('query', 'token')] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )

const pathNames = ({ path }: Endpoint) => Array.from(path.matchAll(/:(\w+)/g), ([, name]) => name!)

interface Field {
  name: string
  schema: z.ZodType
  required: boolean
}

function fieldsOf({ on, input, output }: Endpoint): Field[] {
  const paging = output instanceof PageOf ? pageInput.shape : {}
  const shape = { ...on?.params.shape, ...input?.shape, ...paging } as Record<string, z.ZodType>
  return Object.entries(shape).map(([name, schema]) => ({
    name,
    schema,
    required: !schema.safeParse(undefined).success,
  }))
}

/** The same schema for JSON and forms, so it is written once. */
function requestBody(fields: Field[], name: string, schemas: Json): Json {
  const properties = Object.fromEntries(fields.map(({ name, schema }) => [name, jsonSchema(schema, schemas)]))
  const required = fields.filter((field) => field.required).map((field) => field.name)
  schemas[name] = { type: 'object', properties, ...(required.length > 0 && { required }) }
  const holdsFile = Object.values(properties).some((property) => property.format === 'binary')
  const types = holdsFile ? ['multipart/form-data'] : ['application/json', 'application/x-www-form-urlencoded']
  return {
    required: required.length > 0,
    content: Object.fromEntries(types.map((type) => [type, { schema: ref('schemas', name) }])),
  }
}

function successOf({ method, output, status }: Endpoint, schemas: Json): Json {
  if (output === null) return { [status ?? (method === 'POST' ? 201 : 204)]: { description: 'Done' } }
  const schema =
    output instanceof PageOf ? { type: 'array', items: jsonSchema(output.item, schemas) } : jsonSchema(output, schemas)
  const headers = output instanceof PageOf ? { headers: PAGE_HEADERS } : {}
  const answer = { description: 'Success', ...headers, content: { 'application/json': { schema } } }
  return { [status ?? (method === 'POST' ? 201 : 200)]: answer }
}

const PAGE_HEADERS = Object.fromEntries(
  ['X-Total', 'X-Total-Pages', 'X-Per-Page', 'X-Page', 'X-Next-Page', 'X-Prev-Page', 'Link'].map((name) => [
    name,
    { schema: { type: 'string' } },
  ]),
)

/** Named entities become components; their definitions are collected into `schemas`. */
function jsonSchema(schema: z.ZodType, schemas: Json): Json {
  const {
    $schema: _,
    $defs = {},
    ...rest
  } = z.toJSONSchema(schema, {
    io: 'output',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  }) as Json
  const relinked = (json: unknown) =>
    JSON.parse(JSON.stringify(json).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json
  for (const [name, definition] of Object.entries($defs as Json)) schemas[name] = relinked(definition)
  return relinked(rest)
}
