import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { bool, oneOf, text } from '../../../api/wire.ts'
import { UserSummaryEntity } from '../../identity/users/entity.ts'
import { group } from '../../groups/groups/queries.ts'
import { SimpleProjectEntity } from '../../projects/projects/entity.ts'
import { project } from '../../projects/projects/queries.ts'
import { CommitDetailEntity } from '../../repository/commits/entity.ts'
import { itemKinds } from '../items/registry.ts'
import { MilestoneEntity } from '../milestones/entity.ts'
import { SnippetEntity } from '../snippets/entity.ts'
import { BlobMatchEntity, NoteMatchEntity } from './entity.ts'
import { SCOPES } from './scopes.ts'

const scopesOf = <S extends object>(scopes: S) => z.enum(Object.keys(scopes) as [keyof S & string])

const request = {
  search: text,
  state: oneOf('opened', 'closed', 'merged', 'active', 'all').nullish(),
  confidential: bool.nullish(),
  order_by: oneOf('created_at').nullish(),
  sort: oneOf('asc', 'desc').nullish(),
  search_type: oneOf('basic').nullish(),
}

/** A search in one project includes it even if archived. */
const filterOfMany = { ...request, include_archived: bool.nullish() }

/** Parameters of search engines that this server does not have. */
const refuses = ['exclude_forks', 'fields', 'regex']

const output = pageOf(
  z.lazy(() =>
    z.union([
      SimpleProjectEntity,
      ...itemKinds().map(({ entity }) => entity),
      MilestoneEntity,
      UserSummaryEntity,
      SnippetEntity,
      NoteMatchEntity,
      BlobMatchEntity,
      CommitDetailEntity,
    ]),
  ),
)

export const everywhere = endpoint({
  method: 'GET',
  path: '/search',
  summary: 'Search everything that the signed-in user may see',
  allow: 'signed_in',
  input: z.object({ scope: scopesOf(SCOPES.everywhere), ...filterOfMany }),
  refuses,
  output,
  handle: ({ app, viewer, input, page }) => SCOPES.everywhere[input.scope]({ app, viewer, input, page }) as never,
})

const inGroup = (path: `/${string}`) =>
  endpoint({
    method: 'GET',
    path,
    summary: 'Search a group and what lies in it',
    on: group,
    allow: 'read',
    input: z.object({ scope: scopesOf(SCOPES.inGroup), ...filterOfMany }),
    refuses,
    output,
    handle: ({ app, viewer, subject, input, page }) =>
      SCOPES.inGroup[input.scope]({ app, viewer, group: subject.group, input, page }) as never,
  })

export const ofGroup = inGroup('/groups/:id/search')
export const ofGroupDashed = inGroup('/groups/:id/-/search')

const inProject = (path: `/${string}`) =>
  endpoint({
    method: 'GET',
    path,
    summary: 'Search a project, its files, commits and wiki',
    on: project,
    allow: 'read',
    limiter: 'git',
    input: z.object({ scope: scopesOf(SCOPES.inProject), ...request, ref: text.nullish() }),
    refuses,
    output,
    handle: ({ app, viewer, subject, input, page }) =>
      SCOPES.inProject[input.scope]({ app, viewer, project: subject, input, page }) as never,
  })

export const ofProject = inProject('/projects/:id/search')
export const ofProjectDashed = inProject('/projects/:id/-/search')
