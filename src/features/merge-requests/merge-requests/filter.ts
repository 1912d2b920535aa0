/** Filters of merge request lists, under the parameter names of all API versions. */
import { sql } from 'kysely'
import { z } from 'zod'
import { blankable, id, int, listOf, moment, oneOf, text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { inTextList, textList } from '../../../store/dialect.ts'
import {
  SCOPES,
  idNoneOrAny,
  plannedExcluded,
  plannedFrom,
  plannedInput,
  refuseBoth,
  findUserId,
} from '../../planning/items/filter.ts'
import type { NoneOrAny, PlannedFilter } from '../../planning/items/conditions.ts'

export interface MergeRequestFilter extends PlannedFilter {
  state?: 'opened' | 'closed' | 'merged' | 'all' | null | undefined
  reviewer?: NoneOrAny<number> | null | undefined
  /** All of these users approved. */
  approvers?: NoneOrAny<number[]> | null | undefined
  /** Whether any user approved. */
  approved?: boolean | undefined
  /** Rules name all of these users. */
  named?: NoneOrAny<number[]> | null | undefined
  /** Conditions on a single deployment. */
  deployed?: Deployed | null | undefined
  merge_user?: number | null | undefined
  source_branch?: string | null | undefined
  target_branch?: string | null | undefined
  source_project_id?: number | null | undefined
  draft?: boolean | undefined
  not_reviewer?: number | undefined
}

export interface Deployed {
  /** The name of the environment. */
  to?: string
  after?: string
  before?: string
}

/** Ids, or `None` or `Any`, which may be the only item of a list. */
const idsOrNamed = z.preprocess(
  (value) => {
    const only = Array.isArray(value) && value.length === 1 ? value[0] : value
    return typeof only === 'string' && /^(none|any)$/i.test(only) ? only.toLowerCase() : value
  },
  z.union([z.literal('none'), z.literal('any'), listOf(int)]),
)

export const filterInput = {
  ...plannedInput,
  state: oneOf('opened', 'closed', 'merged', 'all').nullish(),
  scope: oneOf(...SCOPES, 'reviews_for_me').nullish(),
  reviewer_id: blankable(idNoneOrAny),
  reviewer_username: text.nullish(),
  approved_by_ids: blankable(idsOrNamed),
  approved_by_usernames: listOf(text).nullish(),
  approved: blankable(oneOf('yes', 'no')),
  approver_ids: blankable(idsOrNamed),
  environment: text.nullish(),
  deployed_after: blankable(moment),
  deployed_before: blankable(moment),
  merge_user_id: blankable(int),
  merge_user_username: text.nullish(),
  source_branch: text.nullish(),
  target_branch: text.nullish(),
  source_project_id: id.nullish(),
  wip: oneOf('yes', 'no').nullish(),
  not: z.object({ ...plannedExcluded, reviewer_id: blankable(int), reviewer_username: text.nullish() }).nullish(),
}

/** `None`, `Any`, or users. An unknown user becomes id 0. */
async function usersNamed({ db }: App, names: string[] | null | undefined): Promise<NoneOrAny<number[]> | null> {
  if (!names || names.length === 0) return null
  const word = names.length === 1 ? names[0]!.toLowerCase() : ''
  if (word === 'none' || word === 'any') return word
  const usernames = [...new Set(names.map((name) => name.toLowerCase()))]
  const found = await db
    .selectFrom('users')
    .select('id')
    .where(inTextList(db, sql`lower(username)`, textList(db, usernames)))
    .execute()
  return found.length === usernames.length ? found.map(({ id }) => id) : [0]
}

type Input = z.infer<z.ZodObject<typeof filterInput>>

function deployedBy({ environment, deployed_after, deployed_before }: Input): Deployed | null {
  const deployed = {
    ...(environment && { to: environment }),
    ...(deployed_after && { after: deployed_after }),
    ...(deployed_before && { before: deployed_before }),
  }
  return Object.keys(deployed).length > 0 ? deployed : null
}

export async function filterFrom(app: App, viewer: User | null, given: Input): Promise<MergeRequestFilter> {
  const { state, source_branch, target_branch, source_project_id, reviewer_id, not } = given
  refuseBoth(given, 'reviewer_id', 'reviewer_username')
  refuseBoth(given, 'approved_by_ids', 'approved_by_usernames')
  refuseBoth(given, 'merge_user_id', 'merge_user_username')
  const reviewer = reviewer_id === 0 ? 'none' : (reviewer_id ?? (await findUserId(app, given.reviewer_username)))
  return {
    ...(await plannedFrom(app, viewer, given)),
    state,
    source_branch,
    target_branch,
    source_project_id,
    reviewer: given.scope === 'reviews_for_me' ? (viewer?.id ?? 0) : reviewer,
    approvers: given.approved_by_ids ?? (await usersNamed(app, given.approved_by_usernames)),
    approved: given.approved ? given.approved === 'yes' : undefined,
    named: given.approver_ids,
    deployed: deployedBy(given),
    merge_user: given.merge_user_id ?? (await findUserId(app, given.merge_user_username)),
    draft: given.wip ? given.wip === 'yes' : undefined,
    not_reviewer: not?.reviewer_id ?? (await findUserId(app, not?.reviewer_username)) ?? undefined,
  }
}
