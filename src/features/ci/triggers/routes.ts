import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { limited } from '../../../api/rules.ts'
import { blankable, moment, text } from '../../../api/wire.ts'
import { loadProjectSubject } from '../../projects/projects/queries.ts'
import { PipelineEntity } from '../pipelines/entity.ts'
import { ciProject, presentOnePipeline } from '../pipelines/queries.ts'
import { triggerToken } from './credentials.ts'
import { TriggerEntity } from './entity.ts'
import { listTriggers, presentOneTrigger, presentTriggers, trigger } from './queries.ts'
import { startByToken } from './run.ts'
import { createTrigger, deleteTrigger, ownTrigger, updateTrigger } from './service.ts'

const PATH = '/projects/:id/triggers'
const ITEM = `${PATH}/:trigger_id` as const

export const list = endpoint({
  method: 'GET',
  path: PATH,
  summary: 'List the pipeline triggers of a project',
  on: ciProject,
  allow: 'administer',
  secret: true,
  output: pageOf(TriggerEntity),
  async handle({ app, viewer, subject, page }) {
    const { items, total } = await listTriggers(app.db, subject.project.id, page)
    return { total, items: await presentTriggers(app, viewer, items) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: ITEM,
  summary: 'Get a pipeline trigger',
  on: trigger,
  allow: 'administer',
  secret: true,
  output: TriggerEntity,
  handle: ({ app, viewer, subject }) => presentOneTrigger(app, viewer, subject.trigger),
})

const description = limited(text, 255)

export const create = endpoint({
  method: 'POST',
  path: PATH,
  summary: 'Create a pipeline trigger',
  on: ciProject,
  allow: 'administer',
  input: z.object({ description, expires_at: blankable(moment) }),
  output: TriggerEntity,
  async handle({ app, viewer, subject, input }) {
    return presentOneTrigger(app, viewer, await createTrigger(app, viewer, subject.project.id, input))
  },
})

export const update = endpoint({
  method: 'PUT',
  path: ITEM,
  summary: 'Update a pipeline trigger',
  on: trigger,
  allow: 'administer',
  input: z.object({ description: description.optional() }),
  output: TriggerEntity,
  async handle({ app, viewer, subject, input }) {
    return presentOneTrigger(app, viewer, await updateTrigger(app, subject.trigger, input))
  },
})

export const own = endpoint({
  method: 'POST',
  path: `${ITEM}/take_ownership`,
  summary: 'Take ownership of a pipeline trigger',
  on: trigger,
  allow: 'administer',
  status: 200,
  output: TriggerEntity,
  async handle({ app, viewer, subject }) {
    return presentOneTrigger(app, viewer, await ownTrigger(app, viewer, subject.trigger))
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: ITEM,
  summary: 'Delete a pipeline trigger',
  on: trigger,
  allow: 'administer',
  changedAt: ({ trigger }) => trigger.updated_at,
  output: null,
  handle: ({ app, subject }) => deleteTrigger(app, subject.trigger),
})

const starting = (path: `/${string}`) =>
  endpoint({
    method: 'POST',
    path,
    summary: 'Trigger a pipeline with a trigger token or job token',
    by: triggerToken,
    allow: 'anyone',
    limiter: 'git',
    input: z.looseObject({
      ref: text,
      variables: z.unknown().optional(),
      inputs: z.record(z.string().max(255), z.unknown()).nullish(),
    }),
    output: PipelineEntity,
    async handle({ app, credential, input }) {
      const { ref, variables, inputs } = input
      const payload = Object.fromEntries(Object.entries(input).filter(([name]) => !SECRETS.has(name)))
      const pipeline = await startByToken(app, credential, { ref, variables, inputs, payload })
      return presentOnePipeline(app, await loadProjectSubject(app, credential.project, null), pipeline)
    },
  })

const SECRETS = new Set(['private_token', 'access_token', 'bearer_token', 'job_token', 'sudo'])

export const start = starting('/projects/:id/trigger/pipeline')
export const startOnRef = starting('/projects/:id/ref/:ref/trigger/pipeline')
