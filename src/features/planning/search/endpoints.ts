import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { bool, oneOf, text } from '../../../api/wire.ts'
import { UserSummaryEntity } from '../../identity/users/entity.ts'
import { group } from '../../groups/groups/queries.ts'
import { SimpleProjectEntity } from '../../projects/projects/entity.ts'
import { project } from '../../projects/projects/queries.ts'
import { CommitDetailEntity } from '../../repository/commits/entity.ts'
import type { RegisteredKind } from '../items/registry.ts'
import { MilestoneEntity } from '../milestones/entity.ts'
import { SnippetEntity } from '../snippets/entity.ts'
import { BlobMatchEntity, NoteMatchEntity } from './entity.ts'
import { scopesFor, type Scope } from './scopes.ts'

const scopeOf = (scopes: Record<string, Scope>) => z.enum(Object.keys(scopes))

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

export function searchOf(kinds: readonly RegisteredKind[]) {
  const scopes: Record<'everywhere' | 'inGroup' | 'inProject', Record<string, Scope>> = scopesFor(kinds)
  const output = pageOf(
    z.union([
      SimpleProjectEntity,
      ...kinds.map(({ entity }) => entity),
      MilestoneEntity,
      UserSummaryEntity,
      SnippetEntity,
      NoteMatchEntity,
      BlobMatchEntity,
      CommitDetailEntity,
    ]),
  )

  const inGroup = (path: `/${string}`) =>
    endpoint({
      method: 'GET',
      path,
      summary: 'Search a group and what lies in it',
      on: group,
      allow: 'read',
      input: z.object({ scope: scopeOf(scopes.inGroup), ...filterOfMany }),
      refuses,
      output,
      handle: ({ app, viewer, subject, input, page }) =>
        scopes.inGroup[input.scope]!({ app, viewer, group: subject.group, input, page }) as never,
    })

  const inProject = (path: `/${string}`) =>
    endpoint({
      method: 'GET',
      path,
      summary: 'Search a project, its files, commits and wiki',
      on: project,
      allow: 'read',
      limiter: 'git',
      input: z.object({ scope: scopeOf(scopes.inProject), ...request, ref: text.nullish() }),
      refuses,
      output,
      handle: ({ app, viewer, subject, input, page }) =>
        scopes.inProject[input.scope]!({ app, viewer, project: subject, input, page }) as never,
    })

  return {
    everywhere: endpoint({
      method: 'GET',
      path: '/search',
      summary: 'Search everything that the signed-in user may see',
      allow: 'signed_in',
      input: z.object({ scope: scopeOf(scopes.everywhere), ...filterOfMany }),
      refuses,
      output,
      handle: ({ app, viewer, input, page }) => scopes.everywhere[input.scope]!({ app, viewer, input, page }) as never,
    }),
    ofGroup: inGroup('/groups/:id/search'),
    ofGroupDashed: inGroup('/groups/:id/-/search'),
    ofProject: inProject('/projects/:id/search'),
    ofProjectDashed: inProject('/projects/:id/-/search'),
  }
}
