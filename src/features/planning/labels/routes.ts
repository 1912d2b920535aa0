import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { atScopes } from '../../../api/resource-scopes.ts'
import { blankable, bool, int, text } from '../../../api/wire.ts'
import { setSubscription } from '../subscriptions/service.ts'
import { planningScopes, projectScope, type PlanningScope } from '../scopes.ts'
import { LabelEntity } from './entity.ts'
import { promoteLabel } from './promotion.ts'
import { listLabels } from './lists.ts'
import { label, labelByBody, ownLabel, presentLabels, presentOneLabel } from './queries.ts'
import { createLabel, deleteLabel, updateLabel } from './service.ts'

const HIGHEST_PRIORITY = 2_147_483_647

const inProject = { priority: blankable(int.pipe(z.int().min(0).max(HIGHEST_PRIORITY))) }
const attributes = { new_name: text.nullish(), color: text.nullish(), description: text.nullish() }

const ofGroup = { include_descendant_groups: bool.nullish(), only_group_labels: bool.nullish() }

/** Parameters that only one of the two scopes has. */
const onlyIn = <S extends object>(kind: PlanningScope['kind'], scope: PlanningScope, shape: S): S =>
  scope.kind === kind ? shape : ({} as S)

const changesAt = (scope: PlanningScope) => ({ ...attributes, ...onlyIn('project', scope, inProject) })

const isSome = (input: Record<string, unknown>, names: readonly string[]) =>
  names.some((name) => input[name] !== undefined)

const nothingGiven = (names: readonly string[]) => ({
  message: `${names.join(', ')} are missing, at least one parameter must be provided`,
})

const named = { name: text.nullish(), label_id: text.nullish() }

interface NamedRecord {
  name?: string | null | undefined
  label_id?: string | null | undefined
}

const isNamed = ({ name, label_id }: NamedRecord) => (name ?? label_id ?? null) !== null
const isNamedOnce = ({ name, label_id }: NamedRecord) => (name ?? null) === null || (label_id ?? null) === null
/** Reported as missing, whatever else is wrong. */
const unnamed = { path: ['name'], when: () => true }
const namedTwice = { message: 'label_id, name are mutually exclusive' }

export const [list, listOfGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/labels`,
    summary: `List the labels of a ${scope.kind}`,
    on: scope.resource,
    allow: 'read',
    by: 'visitor',
    input: z.object({
      with_counts: bool.nullish(),
      include_ancestor_groups: bool.nullish(),
      search: text.nullish(),
      ...onlyIn('group', scope, ofGroup),
    }),
    refuses: ['archived'],
    output: pageOf(LabelEntity),
    async handle({ app, viewer, subject, input, page }) {
      const { items, total } = await listLabels(app.db, subject, input, page)
      return { total, items: await presentLabels(app, viewer, subject, items, { counts: input.with_counts ?? true }) }
    },
  }),
)

export const [get, getOfGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/labels/:label_id`,
    summary: `Get a label of a ${scope.kind}, by id or title`,
    on: label(scope),
    allow: 'read',
    by: 'visitor',
    output: LabelEntity,
    handle: ({ app, viewer, subject }) => presentOneLabel(app, viewer, subject, subject.label),
  }),
)

export const [create, createInGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'POST',
    path: `${scope.path}/labels`,
    summary: `Add a label to a ${scope.kind}`,
    on: scope.resource,
    allow: 'plan',
    input: z.object({
      name: text,
      color: text,
      description: text.nullish(),
      ...onlyIn('project', scope, inProject),
    }),
    output: LabelEntity,
    async handle({ app, viewer, subject, input }) {
      return presentOneLabel(app, viewer, subject, await createLabel(app, viewer, subject, input))
    },
  }),
)

export const [update, updateInGroup] = atScopes(planningScopes, (scope) => {
  const changes = changesAt(scope)
  const names = Object.keys(changes)
  return endpoint({
    method: 'PUT',
    path: `${scope.path}/labels/:label_id`,
    summary: `Update a label of a ${scope.kind}`,
    on: ownLabel(scope),
    allow: 'plan',
    input: z.object(changes).refine((input) => isSome(input, names), nothingGiven(names)),
    output: LabelEntity,
    async handle({ app, viewer, subject, input }) {
      return presentOneLabel(app, viewer, subject, await updateLabel(app, viewer, subject, subject.label, input))
    },
  })
})

export const [updateNamed, updateNamedInGroup] = atScopes(planningScopes, (scope) => {
  const changes = changesAt(scope)
  const names = Object.keys(changes)
  return endpoint({
    method: 'PUT',
    path: `${scope.path}/labels`,
    summary: `Update a label of a ${scope.kind} that is named in the body`,
    on: labelByBody(scope),
    allow: 'plan',
    input: z
      .object({ ...named, ...changes })
      .refine(isNamed, unnamed)
      .refine(isNamedOnce, namedTwice)
      .refine((input) => isSome(input, names), nothingGiven(names)),
    output: LabelEntity,
    async handle({ app, viewer, subject, input }) {
      return presentOneLabel(app, viewer, subject, await updateLabel(app, viewer, subject, subject.label, input))
    },
  })
})

export const [destroy, destroyInGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'DELETE',
    path: `${scope.path}/labels/:label_id`,
    summary: `Delete a label of a ${scope.kind}`,
    on: ownLabel(scope),
    allow: 'plan',
    changedAt: ({ label }) => label.updated_at,
    output: null,
    handle: ({ app, viewer, subject }) => deleteLabel(app, viewer, subject.label),
  }),
)

export const [destroyNamed, destroyNamedInGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'DELETE',
    path: `${scope.path}/labels`,
    summary: `Delete a label of a ${scope.kind} that is named in the body`,
    on: labelByBody(scope),
    allow: 'plan',
    input: z.object(named).refine(isNamed, unnamed).refine(isNamedOnce, namedTwice),
    changedAt: ({ label }) => label.updated_at,
    output: null,
    handle: ({ app, viewer, subject }) => deleteLabel(app, viewer, subject.label),
  }),
)

const subscription = (verb: 'subscribe' | 'unsubscribe', summary: string) => (scope: PlanningScope) =>
  endpoint({
    method: 'POST',
    path: `${scope.path}/labels/:label_id/${verb}`,
    summary: `${summary} a label in a ${scope.kind}`,
    on: label(scope),
    allow: 'read',
    whileReadOnly: true,
    output: LabelEntity,
    async handle({ app, viewer, subject }) {
      const target = { label_id: subject.label.id, project_id: subject.project?.id ?? null }
      await setSubscription(app, viewer, target, verb === 'subscribe')
      return presentOneLabel(app, viewer, subject, subject.label)
    },
  })

export const [subscribe, subscribeInGroup] = atScopes(planningScopes, subscription('subscribe', 'Ask for news of'))
export const [unsubscribe, unsubscribeInGroup] = atScopes(
  planningScopes,
  subscription('unsubscribe', 'Ask for no more news of'),
)

export const promote = endpoint({
  method: 'PUT',
  path: '/projects/:id/labels/:label_id/promote',
  summary: 'Promote a project label to a group label',
  on: ownLabel(projectScope),
  allow: 'plan',
  alsoAsks: ['plan in the group'],
  output: LabelEntity,
  async handle({ app, viewer, subject }) {
    return presentOneLabel(app, viewer, subject, await promoteLabel(app, viewer, subject, subject.label))
  },
})

export const promoteByBody = endpoint({
  method: 'PUT',
  path: '/projects/:id/labels/promote',
  summary: 'Promote a project label, named in the body, to a group label',
  on: labelByBody(projectScope),
  allow: 'plan',
  alsoAsks: ['plan in the group'],
  input: z.object(named).refine(isNamed, unnamed).refine(isNamedOnce, namedTwice),
  output: LabelEntity,
  async handle({ app, viewer, subject }) {
    return presentOneLabel(app, viewer, subject, await promoteLabel(app, viewer, subject, subject.label))
  },
})
