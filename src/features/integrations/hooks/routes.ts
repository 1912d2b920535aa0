import { z } from 'zod'
import { Answer, endpoint, optional } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { atScopes } from '../../../api/resource-scopes.ts'
import { arrayOf, blankable, bool, longText, oneOf, text } from '../../../api/wire.ts'
import { badParameter, notFound } from '../../../errors.ts'
import { ENTITIES } from './entity.ts'
import { BRANCH_FILTER_STRATEGIES, SWITCHES, type AnySwitch, type HookKind } from './model.ts'
import { hookScopes } from './scopes.ts'
import { listHooks, presentHooks, presentOneHook } from './queries.ts'
import { createHook, deleteHook, removePair, setPair, updateHook } from './service.ts'

const url = text.transform((value) => value.trim())
const pair = z.object({ key: text, value: text })

const attributes = {
  enable_ssl_verification: bool.nullish(),
  token: blankable(text),
  signing_token: blankable(text),
  name: blankable(text),
  description: blankable(longText),
  push_events_branch_filter: text.nullish(),
  branch_filter_strategy: oneOf(...BRANCH_FILTER_STRATEGIES).nullish(),
  custom_webhook_template: blankable(text),
  url_variables: arrayOf(pair, 100).nullish(),
  custom_headers: arrayOf(pair, 100).nullish(),
}

type Switch = z.ZodOptional<z.ZodNullable<typeof bool>>

/** The API also accepts `wiki_events` for `wiki_page_events`. */
function attributesOf(kind: HookKind) {
  const names = kind === 'instance' ? SWITCHES[kind] : [...SWITCHES[kind], 'wiki_events']
  const switches = Object.fromEntries(names.map((name) => [name, bool.nullish()]))
  return { ...attributes, ...(switches as Record<AnySwitch | 'wiki_events', Switch>) }
}

const ownNames = <T extends { wiki_events?: boolean | null; wiki_page_events?: boolean | null }>(input: T) => {
  const { wiki_events, ...rest } = input
  return { ...rest, wiki_page_events: input.wiki_page_events ?? wiki_events ?? null }
}

export const [list, listOfGroup, listOfInstance] = atScopes(hookScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: scope.path,
    summary: `List the hooks of ${scope.of}`,
    on: scope.resource,
    allow: scope.allow,
    output: pageOf(ENTITIES[scope.kind]),
    async handle({ app, subject, page }) {
      const { items, total } = await listHooks(app.db, subject.at, page)
      return { total, items: await presentHooks(app, items) }
    },
  }),
)

export const [get, getOfGroup, getOfInstance] = atScopes(hookScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/:hook_id`,
    summary: `Get a hook of ${scope.of}`,
    on: scope.hook,
    allow: scope.allow,
    output: ENTITIES[scope.kind],
    handle: ({ app, subject }) => presentOneHook(app, subject.hook),
  }),
)

export const [create, createInGroup, createInInstance] = atScopes(hookScopes, (scope) =>
  endpoint({
    method: 'POST',
    path: scope.path,
    summary: `Add a hook to ${scope.of}`,
    on: scope.resource,
    allow: scope.allow,
    input: z.object({ url, ...attributesOf(scope.kind) }),
    output: ENTITIES[scope.kind],
    async handle({ app, subject, input }) {
      return presentOneHook(app, await createHook(app, subject.at, ownNames(input)))
    },
  }),
)

export const [update, updateInGroup, updateInInstance] = atScopes(hookScopes, (scope) =>
  endpoint({
    method: 'PUT',
    path: `${scope.path}/:hook_id`,
    summary: `Update a hook of ${scope.of}; changing the URL without a token removes the stored secrets`,
    on: scope.hook,
    allow: scope.allow,
    input: z.object({ url: url.optional(), ...attributesOf(scope.kind) }),
    output: ENTITIES[scope.kind],
    async handle({ app, subject, input }) {
      const isEmpty = Object.values(input).every((value) => value === undefined)
      if (isEmpty) throw badParameter('No parameters provided')
      return presentOneHook(app, await updateHook(app, subject.hook, ownNames(input)))
    },
  }),
)

export const [destroy, destroyInGroup, destroyInInstance] = atScopes(hookScopes, (scope) =>
  endpoint({
    method: 'DELETE',
    path: `${scope.path}/:hook_id`,
    summary:
      scope.kind === 'project'
        ? 'Delete a hook of a project; answers with the hook if there was one'
        : `Delete a hook of ${scope.of}`,
    on: optional(scope.hook),
    allow: scope.allow,
    changedAt: ({ hook }) => hook?.updated_at ?? new Date(0).toISOString(),
    output: ENTITIES[scope.kind],
    async handle({ app, subject: { hook } }) {
      const existed = hook !== null && (await deleteHook(app, hook))
      if (scope.kind === 'project' && existed) return presentOneHook(app, hook)
      if (!existed && scope.kind !== 'project') throw notFound(scope.kind === 'instance' ? 'System hook' : undefined)
      return new Answer(204)
    },
  }),
)

const value = { value: text }
const key = { key: text }

export const [setUrlVariable, setUrlVariableInGroup, setUrlVariableInInstance] = atScopes(hookScopes, (scope) =>
  endpoint({
    method: 'PUT',
    path: `${scope.path}/:hook_id/url_variables/:key`,
    summary: `Set a variable that fills the address of a hook of ${scope.of}`,
    on: scope.hook,
    allow: scope.allow,
    input: z.object({ ...key, ...value }),
    output: null,
    status: 204,
    handle: ({ app, subject, input }) => setPair(app, subject.hook, 'url_variables', input),
  }),
)

export const [unsetUrlVariable, unsetUrlVariableInGroup, unsetUrlVariableInInstance] = atScopes(hookScopes, (scope) =>
  endpoint({
    method: 'DELETE',
    path: `${scope.path}/:hook_id/url_variables/:key`,
    summary: `Remove a variable of the address of a hook of ${scope.of}`,
    on: scope.hook,
    allow: scope.allow,
    input: z.object(key),
    output: null,
    handle: ({ app, subject, input }) => removePair(app, subject.hook, 'url_variables', input.key),
  }),
)

export const [setCustomHeader, setCustomHeaderInGroup, setCustomHeaderInInstance] = atScopes(hookScopes, (scope) =>
  endpoint({
    method: 'PUT',
    path: `${scope.path}/:hook_id/custom_headers/:key`,
    summary: `Set a header that a hook of ${scope.of} is sent`,
    on: scope.hook,
    allow: scope.allow,
    input: z.object({ ...key, ...value }),
    output: null,
    status: 204,
    handle: ({ app, subject, input }) => setPair(app, subject.hook, 'custom_headers', input),
  }),
)

export const [unsetCustomHeader, unsetCustomHeaderInGroup, unsetCustomHeaderInInstance] = atScopes(
  hookScopes,
  (scope) =>
    endpoint({
      method: 'DELETE',
      path: `${scope.path}/:hook_id/custom_headers/:key`,
      summary: `Remove a header that a hook of ${scope.of} is sent`,
      on: scope.hook,
      allow: scope.allow,
      input: z.object(key),
      output: null,
      handle: ({ app, subject, input }) => removePair(app, subject.hook, 'custom_headers', input.key),
    }),
)
