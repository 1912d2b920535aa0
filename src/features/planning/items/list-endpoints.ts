/** Endpoints that list items: of all visible projects, of a group, of a project, of a milestone. */
import type { z } from 'zod'
import { endpoint, type Policy, type Resource } from '../../../api/endpoint.ts'
import type { Json } from '../../../api/json.ts'
import { pageOf } from '../../../api/pages.ts'
import { atScopes } from '../../../api/resource-scopes.ts'
import type { App, User } from '../../../context.ts'
import { unauthenticated } from '../../../errors.ts'
import type { OrderInput } from '../../../store/lists.ts'
import type { Page } from '../../../store/pages.ts'
import { group } from '../../groups/groups/queries.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { milestone } from '../milestones/queries.ts'
import { planningScopes } from '../scopes.ts'
import type { PlannedFilter } from './conditions.ts'
import type { ItemKind } from './kind.ts'
import type { ItemLists } from './lists.ts'

type Input<O extends string> = OrderInput<O> & { scope?: string | null | undefined }

interface ListPlan<S, P extends Policy<S>, I, F extends PlannedFilter, O extends string, R> {
  kind: ItemKind
  by: 'user' | 'visitor'
  /** The project, and the ability to list its items. */
  on: Resource<S, P>
  allow: keyof P & string
  input: z.ZodObject & z.ZodType<I>
  refuses?: readonly string[]
  filterFrom(app: App, viewer: User | null, input: I): Promise<F>
  lists: Pick<ItemLists<F, O>, 'listOfProject' | 'listAll' | 'listAt'>
  entity: z.ZodType<R>
  /** The records of lists with parameters, if the caller can choose among several. */
  output?: z.ZodType<R>
  present(
    app: App,
    viewer: User | null,
    page: readonly { id: number }[],
    options: Partial<I> & { isMixed: boolean },
  ): Promise<R[] | Json<R>[]>
}

/** The default scope is `created_by_me`. An anonymous caller has no items of their own. */
export function ownScope<I extends { scope?: string | null | undefined }>(viewer: User | null, input: I): I {
  const scope = input.scope ?? 'created_by_me'
  if (!viewer && scope !== 'all') throw unauthenticated()
  return { ...input, scope }
}

export function listsOn<
  S extends ProjectSubject,
  P extends Policy<S>,
  I extends Input<O>,
  F extends PlannedFilter,
  O extends string,
  R extends object,
>(plan: ListPlan<S, P, I, F, O, R>) {
  const { kind, by, lists, present } = plan
  const items = `${kind.noun}s`
  const declared = {
    method: 'GET',
    by,
    input: plan.input as z.ZodObject,
    refuses: plan.refuses ?? [],
    output: pageOf(plan.output ?? plan.entity),
  } as const
  const filterOf = async (app: App, viewer: User | null, input: I) => ({
    ...(await plan.filterFrom(app, viewer, input)),
    order_by: input.order_by,
    sort: input.sort,
  })
  const records = async (
    app: App,
    viewer: User | null,
    { items, total }: Page<{ id: number }>,
    options: Partial<I> & { isMixed: boolean },
  ) => ({ total, items: (await present(app, viewer, items, options)) as R[] })

  const [ofMilestone, ofGroupMilestone] = atScopes(planningScopes, (scope) =>
    endpoint({
      method: 'GET',
      path: `${scope.path}/milestones/:milestone_id/${kind.table}`,
      summary: `List the ${items} of a ${scope.kind}’s milestone, by the priority of their labels`,
      on: milestone(scope),
      allow: 'readMilestones',
      by,
      output: pageOf(plan.entity),
      async handle({ app, viewer, subject, page }) {
        const filter = { milestone_id: subject.milestone.id, order_by: 'label_priority', sort: 'asc' } as F &
          OrderInput<O>
        const found = await lists.listAt(app, subject, filter, page)
        return records(app, viewer, found, { isMixed: subject.project === null } as Partial<I> & { isMixed: boolean })
      },
    }),
  )

  return {
    listAll: endpoint({
      ...declared,
      path: `/${kind.table}`,
      summary: `List ${items} of all visible projects; by default those created by the user`,
      allow: by === 'visitor' ? 'anyone' : 'signed_in',
      async handle({ app, viewer, input, page }) {
        const given = ownScope(viewer, input as I)
        const found = await lists.listAll(app, viewer, await filterOf(app, viewer, given), page)
        return records(app, viewer, found, { ...given, isMixed: true })
      },
    }),

    listOfGroup: endpoint({
      ...declared,
      path: `/groups/:id/${kind.table}`,
      summary: `List ${items} of a group’s projects`,
      on: group,
      allow: 'read',
      async handle({ app, viewer, subject, input, page }) {
        const filter = { ...(await filterOf(app, viewer, input as I)), group: subject.group.id }
        return records(app, viewer, await lists.listAll(app, viewer, filter, page), { ...(input as I), isMixed: true })
      },
    }),

    list: endpoint({
      ...declared,
      path: `/projects/:id/${kind.table}`,
      summary: `List ${items} of a project`,
      on: plan.on,
      allow: plan.allow,
      async handle({ app, viewer, subject, input, page }) {
        const filter = await filterOf(app, viewer, input as I)
        const found = await lists.listOfProject(app, subject, filter, page)
        return records(app, viewer, found, { ...(input as I), isMixed: false })
      },
    }),

    ofMilestone,
    ofGroupMilestone,
  }
}
