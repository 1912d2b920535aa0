import { z } from 'zod'
import { Answer, endpoint, optional } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, bool, longText, oneOf, text } from '../../../api/wire.ts'
import { badParameter } from '../../../errors.ts'
import { guardedProject } from '../../projects/projects/queries.ts'
import { HookEntity, presentHook } from './entity.ts'
import { BRANCH_FILTER_STRATEGIES, HOOK_SWITCHES, type HookSwitch } from './model.ts'
import { hook, listHooks } from './queries.ts'
import { createHook, deleteHook, updateHook } from './service.ts'

const switches = Object.fromEntries(HOOK_SWITCHES.map((name) => [name, bool.nullish()])) as Record<
  HookSwitch,
  z.ZodOptional<z.ZodNullable<typeof bool>>
>

const url = text.transform((value) => value.trim())

const attributes = {
  ...switches,
  wiki_events: bool.nullish(), // the contract's name for `wiki_page_events`
  enable_ssl_verification: bool.nullish(),
  token: blankable(text),
  name: blankable(text),
  description: blankable(longText),
  push_events_branch_filter: text.nullish(),
  branch_filter_strategy: oneOf(...BRANCH_FILTER_STRATEGIES).nullish(),
}

interface EitherName {
  wiki_events?: boolean | null
  wiki_page_events?: boolean | null
}

const ownNames = <T extends EitherName>({ wiki_events, ...input }: T) => ({
  ...input,
  wiki_page_events: input.wiki_page_events ?? wiki_events,
})

export const list = endpoint({
  method: 'GET',
  path: '/projects/:id/hooks',
  summary: 'List the hooks of a project',
  on: guardedProject,
  allow: 'administer',
  output: pageOf(HookEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await listHooks(app.db, subject.project.id, page)
    return { total, items: items.map(presentHook) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: '/projects/:id/hooks/:hook_id',
  summary: 'Get a hook of a project',
  on: hook,
  allow: 'administer',
  output: HookEntity,
  handle: async ({ subject }) => presentHook(subject.hook),
})

export const create = endpoint({
  method: 'POST',
  path: '/projects/:id/hooks',
  summary: 'Add a hook to a project',
  on: guardedProject,
  allow: 'administer',
  input: z.object({ url, ...attributes }),
  output: HookEntity,
  handle: async ({ app, subject, input }) => presentHook(await createHook(app, subject.project, ownNames(input))),
})

export const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/hooks/:hook_id',
  summary: 'Change a hook of a project',
  on: hook,
  allow: 'administer',
  input: z.object({ url: url.optional(), ...attributes }),
  output: HookEntity,
  async handle({ app, subject, input }) {
    const isEmpty = Object.values(input).every((value) => value === undefined)
    if (isEmpty) throw badParameter('No parameters provided')
    return presentHook(await updateHook(app, subject.hook, ownNames(input)))
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/projects/:id/hooks/:hook_id',
  summary: 'Delete a hook of a project; answers with the hook if there was one',
  on: optional(hook),
  allow: 'administer',
  changedAt: ({ hook }) => hook?.updated_at ?? new Date(0).toISOString(),
  output: HookEntity,
  async handle({ app, subject: { hook } }) {
    const existed = hook !== null && (await deleteHook(app, hook))
    return existed ? presentHook(hook) : new Answer(204)
  },
})
