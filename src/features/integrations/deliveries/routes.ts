import { z } from 'zod'
import { Answer, child, endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { atScopes } from '../../../api/resource-scopes.ts'
import { arrayOf, blankable, entity, id, moment, oneOf } from '../../../api/wire.ts'
import { badParameter } from '../../../errors.ts'
import { SWITCHES } from '../hooks/model.ts'
import { hookScopes, instanceHooks, projectAndGroupHooks, type AnyHookScope } from '../hooks/scopes.ts'
import {
  HookEventEntity,
  STATUS_GROUPS,
  findAttempt,
  listAttempts,
  presentAttempt,
  showAttempt,
  type StatusInput,
} from './log.ts'
import { MOST_REPLAYED, startReplay } from './replays.ts'
import { resend, testHook, testSystemHook } from './sending.ts'

const attemptOf = ({ hook }: AnyHookScope) =>
  child(hook, {
    key: 'attempt',
    params: { hook_log_id: id },
    find: (app, { hook }, { hook_log_id }) => findAttempt(app, hook, hook_log_id),
  })

/** A status code, or a group of codes. */
const status = z.union([
  z.preprocess((value) => (typeof value === 'string' ? Number(value) : value), z.int().min(100).max(599)),
  oneOf(...STATUS_GROUPS),
])

export const [list, listOfGroup, listOfInstance] = atScopes(hookScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/:hook_id/events`,
    summary: `List deliveries of a hook of ${scope.of} in the last seven days`,
    on: scope.hook,
    allow: scope.allow,
    input: z.object({ status: status.nullish() }),
    output: pageOf(HookEventEntity, { most: 20 }),
    async handle({ app, subject, input, page }) {
      const request: StatusInput | null = input.status ?? null
      const { items, total } = await listAttempts(app, subject.hook, request, page)
      return { total, items: items.map(presentAttempt) }
    },
  }),
)

export const [get, getOfGroup, getOfInstance] = atScopes(hookScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/:hook_id/events/:hook_log_id`,
    summary: `Get one try to send something to a hook of ${scope.of}`,
    on: attemptOf(scope),
    allow: scope.allow,
    output: HookEventEntity,
    handle: async ({ app, subject }) => presentAttempt(await showAttempt(app, subject.attempt)),
  }),
)

export const [resendOfProject, resendOfGroup, resendOfInstance] = atScopes(hookScopes, (scope) =>
  endpoint({
    method: 'POST',
    path: `${scope.path}/:hook_id/events/:hook_log_id/resend`,
    summary: `Redeliver a message to a hook of ${scope.of}`,
    on: attemptOf(scope),
    allow: scope.allow,
    output: entity({ response_status: z.int() }),
    async handle({ app, viewer, subject }) {
      return { response_status: await resend(app, viewer, subject.hook, subject.attempt) }
    },
  }),
)

export const [test, testOfGroup] = atScopes(projectAndGroupHooks, (scope) =>
  endpoint({
    method: 'POST',
    path: `${scope.path}/:hook_id/test/:trigger`,
    summary: `Test a hook of ${scope.of} with the latest event of a kind`,
    on: scope.hook,
    allow: scope.allow,
    input: z.object({ trigger: oneOf(...SWITCHES[scope.kind]) }),
    output: entity({ message: z.string() }),
    async handle({ app, viewer, subject, input }) {
      await testHook(app, viewer, subject.hook, input.trigger)
      return { message: '201 Created' }
    },
  }),
)

export const testOfInstance = endpoint({
  method: 'POST',
  path: `${instanceHooks.path}/:hook_id`,
  summary: 'Test a system hook',
  on: instanceHooks.hook,
  allow: instanceHooks.allow,
  output: entity({
    event_name: z.string(),
    name: z.string(),
    path: z.string(),
    project_id: z.int(),
    owner_name: z.string(),
    owner_email: z.string(),
  }),
  handle: ({ app, viewer, subject }) => testSystemHook(app, viewer, subject.hook),
})

const ReplayEntity = entity({
  events: z.int(),
  as_told: z.int(),
  made_anew: z.int(),
  more: z.boolean(),
  last_event_at: z.string().nullable(),
}).meta({ id: 'HookReplay' })

export const [replay, replayOfGroup, replayOfInstance] = atScopes(hookScopes, (scope) =>
  endpoint({
    method: 'POST',
    path: `${scope.path}/:hook_id/replay`,
    summary: `Redeliver past events to a hook of ${scope.of}, at most ${MOST_REPLAYED} at a time`,
    on: scope.hook,
    allow: scope.allow,
    input: z.object({
      since: blankable(moment),
      until: blankable(moment),
      event_ids: arrayOf(id, MOST_REPLAYED).nullish(),
    }),
    output: ReplayEntity,
    status: 202,
    async handle({ app, subject, input }) {
      const { since, until, event_ids } = input
      const isSpan = (since ?? until ?? null) !== null
      if (isSpan && event_ids) throw badParameter('since, until, event_ids are mutually exclusive')
      if (!since && !event_ids)
        throw badParameter('since, event_ids are missing, at least one parameter must be provided')
      return new Answer(202, await startReplay(app, subject.hook, input))
    },
  }),
)
