/**
 * A URL for every page, by its file in `web/pages`. A new page must be listed here: the checks for all pages use this
 * table.
 */
import { globSync } from 'node:fs'
import { basename } from 'node:path'
import type { World } from './world.ts'

export type Role = 'visitor' | 'member' | 'administrator'

/** What a viewer gets: the page, the sign-in page, or an error page. */
export type PageOutcome = 'page' | 'sign-in' | 404 | 403

export interface Address {
  /** In `web/pages`, without its extension. */
  readonly file: string
  readonly path: string
  readonly found: Readonly<Record<Role, PageOutcome>>
  /** Words whose hostile text must be visible. */
  readonly shows: readonly string[]
  /** The same page in another state. */
  readonly isVariant: boolean
  /** Contains texts that cannot be accessible. */
  readonly isCorpus: boolean
}

const EVERYBODY = { visitor: 'page', member: 'page', administrator: 'page' } as const
const SIGNED_IN = { ...EVERYBODY, visitor: 'sign-in' } as const
const ADMINISTRATORS = { ...SIGNED_IN, member: 404 } as const

interface Entry {
  readonly at: string
  /** Words whose hostile text (see `world.ts`) must be visible there, character by character. */
  readonly shows?: readonly string[]
  /** URLs of the same page in other states. */
  readonly also?: readonly string[]
  /** A URL that shows the whole corpus of hostile Markdown. */
  readonly corpus?: string
}

type Entries = Record<string, string | Entry>

const folder = 'web/pages'

/** Every page file; capitalised files are parts of pages. */
export const pageFiles = (): string[] =>
  globSync('**/*.tsx', { cwd: folder })
    .filter((file) => /^[a-z[]/.test(basename(file)))
    .map((file) => file.replace(/\.tsx$/, ''))
    .toSorted()

/** Segments as a browser encodes them. */
const encoded = (path: string) => path.split('/').map(encodeURIComponent).join('/')

export function addressesOf(world: World): Address[] {
  const { pipeline, job, waitingJob, environment, schedule, board, groupBoard, hooks, delivery, snippets, sha } = world
  const project = '/mill/wheel/-'
  const group = '/groups/mill/-'
  const file = encoded(world.file)
  const branch = encoded(world.branch)
  const tag = encoded(world.tag)
  const request = `${project}/merge_requests`

  const forEverybody: Entries = {
    'instance/search': {
      at: '/search?search=issue&scope=issues',
      shows: ['issue'],
      also: ['/search?search=counts&project=mill/wheel&scope=blobs', '/search?search=nothing-like-it'],
    },
    'instance/index': '/',
    'instance/-/gallery': '/-/gallery',
    'instance/help/index': { at: '/help', also: ['/help?search=webhook', '/help?search=nothing-like-it'] },
    'instance/help/[...page]': {
      at: '/help/first-steps',
      also: ['/help/pages', '/help/contexts/ci', '/help/services'],
    },
    'instance/-/snippets/[snippet_id]/index': { at: `/-/snippets/${snippets.own}`, shows: ['snippet', 'inside'] },
    'instance/explore/index': { at: '/explore', shows: ['project'], also: ['/explore?search=nothing-like-it'] },
    'instance/explore/groups': { at: '/explore/groups', shows: ['group'] },
    'group/index': { at: '/mill', shows: ['group'], also: ['/mill?search=nothing-like-it'] },
    'group/boards/index': { at: `${group}/boards`, shows: ['issue'] },
    'group/boards/[board_id]': { at: `${group}/boards/${groupBoard}`, shows: ['issue'] },
    'group/issues': { at: `${group}/issues`, shows: ['issue', 'bug'] },
    'group/labels': { at: `${group}/labels`, shows: ['shared'] },
    'group/milestones/index': { at: `${group}/milestones`, shows: ['Year one'] },
    'group/milestones/[iid]': { at: `${group}/milestones/1`, shows: ['Year one'] },
    'user/index': { at: '/jane', shows: ['Jane', 'bio'], also: ['/jane?tab=activity', '/jane?tab=groups', '/joe'] },
    'project/index': { at: '/mill/wheel', shows: ['project'], also: ['/mill/empty'] },
    'project/activity': { at: `${project}/activity`, shows: ['issue'] },
    'project/blame/[...path]': {
      at: `${project}/blame/master/src/stone.ts`,
      shows: ['commit'],
      also: [`${project}/blame/master/${file}`],
    },
    'project/blob/[...path]': {
      at: `${project}/blob/master/README.md`,
      also: [
        `${project}/blob/master/README.md?plain=1`,
        `${project}/blob/master/src/stone.ts`,
        `${project}/blob/${branch}/${file}`,
        `${project}/blob/master/dot.png`,
        `${project}/blob/master/dot.svg`,
      ],
      corpus: `${project}/blob/master/corpus.md`,
    },
    'project/boards/index': { at: `${project}/boards`, shows: ['issue'] },
    'project/boards/[board_id]': { at: `${project}/boards/${board}`, shows: ['issue', 'board'] },
    'project/branches/index': { at: `${project}/branches`, shows: ['A belt'] },
    'project/ci/editor': `${project}/ci/editor`,
    'project/commit/[sha]': {
      at: `${project}/commit/${sha}`,
      shows: ['commit', 'body'],
      also: [`${project}/commit/master?view=split&w=1`],
    },
    'project/commits/[...path]': {
      at: `${project}/commits/master`,
      shows: ['commit'],
      also: [`${project}/commits/${branch}/${file}`],
    },
    'project/compare/index': `${project}/compare`,
    'project/compare/[...range]': {
      at: `${project}/compare/master...faster`,
      shows: ['// faster'],
      also: [`${project}/compare/${branch}...master`],
    },
    'project/find_file/[...path]': {
      at: `${project}/find_file/master`,
      also: [`${project}/find_file/${branch}?path=img`],
    },
    'project/forks/index': `${project}/forks`,
    'project/graphs/[...ref]': `${project}/graphs/master`,
    'project/issues/index': {
      at: `${project}/issues`,
      shows: ['issue', 'bug'],
      also: [`${project}/issues?search=issue&sort=due_asc`, `${project}/issues?state=closed`],
    },
    'project/issues/[iid]': {
      at: `${project}/issues/1`,
      shows: ['issue', 'bug', 'v1', 'Jane'],
      corpus: `${project}/issues/2`,
    },
    'project/jobs/index': { at: `${project}/jobs`, shows: ['compile'] },
    'project/jobs/[job]/index': {
      at: `${project}/jobs/${job}`,
      shows: ['compile', 'line', 'green', 'tag'],
      also: [`${project}/jobs/${job}?search=line`, `${project}/jobs/${waitingJob}`],
    },
    'project/jobs/[job]/artifacts/index': `${project}/jobs/${job}/artifacts`,
    'project/jobs/[job]/artifacts/browse/index': `${project}/jobs/${job}/artifacts/browse`,
    'project/jobs/[job]/artifacts/browse/[...path]': `${project}/jobs/${job}/artifacts/browse/out/deep`,
    'project/labels/index': { at: `${project}/labels`, shows: ['bug', 'label'] },
    'project/milestones/index': { at: `${project}/milestones`, shows: ['v1'] },
    'project/milestones/[iid]': { at: `${project}/milestones/1`, shows: ['v1', 'issue'] },
    'project/pipelines/index': { at: `${project}/pipelines`, also: [`${project}/pipelines?status=failed&ref=nowhere`] },
    'project/pipelines/[pipeline]': {
      at: `${project}/pipelines/${pipeline}`,
      shows: ['build'],
      also: [`${project}/pipelines/${pipeline}?tab=jobs`, `${project}/pipelines/${pipeline}?tab=tests`],
    },
    'project/releases/index': { at: `${project}/releases`, shows: ['release'] },
    'project/releases/[...tag]': {
      at: `${project}/releases/v1.0`,
      shows: ['release', 'asset'],
      also: [`${project}/releases/${tag}`],
    },
    'project/snippets/index': { at: `${project}/snippets`, shows: ['snippet'] },
    'project/snippets/[snippet_id]/index': { at: `${project}/snippets/${snippets.project}`, shows: ['snippet'] },
    'project/ref_changes/index': `${project}/ref_changes`,
    'project/tags/index': { at: `${project}/tags`, shows: ['tagged'] },
    'project/tags/[...name]': { at: `${project}/tags/v1.0`, shows: ['tagged'], also: [`${project}/tags/${tag}`] },
    'project/tree/[...path]': { at: `${project}/tree/master/src`, also: [`${project}/tree/${branch}`] },
    'project/network/[...ref]': { at: `${project}/network/master`, shows: ['commit'] },
    'project/wikis/index': `${project}/wikis`,
    'project/wikis/pages': `${project}/wikis/pages`,
    'project/wikis/[...path]': {
      at: `${project}/wikis/home`,
      also: [
        `${project}/wikis/guides/install?view=history`,
        `${project}/wikis/nothing-like-it`,
        `${project}/wikis/${encoded(world.wiki.replaceAll(' ', '-'))}`,
      ],
      corpus: `${project}/wikis/corpus`,
    },
  }

  const forSignedIn: Entries = {
    'group/deleted_items': `${group}/deleted_items`,
    'group/group_members': `${group}/group_members`,
    'project/pipeline_schedules/index': { at: `${project}/pipeline_schedules`, shows: ['schedule'] },
    'project/project_members': { at: `${project}/project_members`, also: [`${project}/project_members?find=boss`] },
    'instance/-/welcome': '/-/welcome?project=mill%2Fempty',
    'instance/-/profile/index': { at: '/-/profile', shows: ['Jane', 'bio'] },
    'instance/-/profile/active_sessions': '/-/profile/active_sessions',
    'instance/-/profile/applications': { at: '/-/profile/applications', shows: ['own application'] },
    'instance/-/profile/emails': '/-/profile/emails',
    'instance/-/profile/gpg_keys': '/-/profile/gpg_keys',
    'instance/-/profile/keys': { at: '/-/profile/keys', shows: ['key'] },
    'instance/-/profile/notifications': '/-/profile/notifications',
    'instance/-/profile/password': '/-/profile/password',
    'instance/-/profile/personal_access_tokens': { at: '/-/profile/personal_access_tokens', shows: ['token'] },
    'instance/-/profile/preferences': '/-/profile/preferences',
    'instance/-/profile/two_factor_auth': '/-/profile/two_factor_auth',
    'instance/-/snippets/index': { at: '/-/snippets', shows: ['snippet'] },
    'instance/-/snippets/new': '/-/snippets/new',
    'instance/-/snippets/[snippet_id]/edit': { at: `/-/snippets/${snippets.own}/edit`, shows: ['snippet', 'inside'] },
    'instance/dashboard/activity': { at: '/dashboard/activity', shows: ['issue'] },
    'instance/dashboard/deleted': '/dashboard/deleted',
    'instance/dashboard/groups': { at: '/dashboard/groups', shows: ['group'] },
    'instance/dashboard/issues': { at: '/dashboard/issues', shows: ['issue'] },
    'instance/dashboard/merge_requests': '/dashboard/merge_requests',
    'instance/dashboard/projects': { at: '/dashboard/projects', shows: ['project'] },
    'instance/dashboard/todos': { at: '/dashboard/todos', shows: ['issue'], also: ['/dashboard/todos?state=done'] },
    'instance/explore/users': { at: '/explore/users', shows: ['Jane'] },
    'instance/groups/new': '/groups/new',
    'instance/projects/new': { at: '/projects/new', also: ['/projects/new?from=url'] },
    'group/edit': { at: `${group}/edit`, shows: ['group'] },
    'group/hooks/index': { at: `${group}/hooks`, shows: ['hook'] },
    'group/hooks/[hook_id]': { at: `${group}/hooks/${hooks.group}`, shows: ['hook'] },
    'group/merge_requests': { at: `${group}/merge_requests`, shows: ['merge'] },
    'group/settings/access_tokens': { at: `${group}/settings/access_tokens`, shows: ['token'] },
    'group/settings/ci_cd': {
      at: `${group}/settings/ci_cd`,
      shows: ['variable', 'runner'],
      also: [`${group}/settings/ci_cd?variable=GROUP_KEY&scope=*`],
    },
    'group/settings/repository': { at: `${group}/settings/repository`, shows: ['deploy token'] },
    'group/settings/integrations/index': `${group}/settings/integrations`,
    'group/settings/integrations/[slug]': `${group}/settings/integrations/jira`,
    'group/settings/ldap': `${group}/settings/ldap`,
    'project/ci/lint': `${project}/ci/lint`,
    'project/deleted_items': `${project}/deleted_items`,
    'project/edit': { at: `${project}/edit`, shows: ['project'] },
    'project/edit/[...path]': {
      at: `${project}/edit/master/${file}`,
      shows: ['content'],
      also: [`${project}/edit/master/${file}?way=rename`, `${project}/edit/master/${file}?way=delete`],
    },
    'project/environments/index': `${project}/environments`,
    'project/environments/[environment]': `${project}/environments/${environment}`,
    'project/forks/new': `${project}/forks/new`,
    'project/hooks/index': { at: `${project}/hooks`, shows: ['hook'] },
    'project/hooks/[hook_id]': {
      at: `${project}/hooks/${hooks.project}`,
      shows: ['hook'],
      also: [`${project}/hooks/${hooks.project}?delivery=${delivery}`],
    },
    'project/import': `${project}/import`,
    'project/issues/new': { at: `${project}/issues/new`, shows: ['bug'] },
    'project/merge_requests/index': {
      at: request,
      shows: ['merge', 'bug'],
      also: [`${request}?state=all&sort=updated_desc`, `${request}?state=merged`],
    },
    'project/merge_requests/new': {
      at: `${request}/new`,
      also: [`${request}/new?merge_request%5Bsource_branch%5D=9-new-belt`],
    },
    'project/merge_requests/[iid]/index': { at: `${request}/1`, shows: ['merge', 'bug'], also: [`${request}/2`] },
    'project/merge_requests/[iid]/commits': { at: `${request}/1/commits`, shows: ['merge'] },
    'project/merge_requests/[iid]/diffs': {
      at: `${request}/1/diffs`,
      shows: ['// faster'],
      also: [`${request}/1/diffs?view=split`],
    },
    'project/merge_requests/[iid]/edit': { at: `${request}/1/edit`, shows: ['merge'] },
    'project/merge_requests/[iid]/pipelines': `${request}/1/pipelines`,
    'project/merge_requests/[iid]/versions': `${request}/1/versions`,
    'project/milestones/new': `${project}/milestones/new`,
    'project/new/[...path]': { at: `${project}/new/master/src`, also: [`${project}/new/${branch}?upload=1`] },
    'project/pipeline_schedules/new': `${project}/pipeline_schedules/new`,
    'project/pipeline_schedules/[schedule]/edit': {
      at: `${project}/pipeline_schedules/${schedule}/edit`,
      shows: ['schedule'],
    },
    'project/pipelines/new': `${project}/pipelines/new`,
    'project/releases/new': `${project}/releases/new`,
    'project/settings/access_tokens': { at: `${project}/settings/access_tokens`, shows: ['token'] },
    'project/settings/ci_cd': {
      at: `${project}/settings/ci_cd`,
      shows: ['trigger', 'own runner'],
      also: [`${project}/settings/ci_cd?variable=DEPLOY_KEY&scope=*`],
    },
    'project/settings/integrations/index': `${project}/settings/integrations`,
    'project/settings/integrations/[slug]': { at: `${project}/settings/integrations/slack`, shows: ['channel'] },
    'project/settings/merge_requests': { at: `${project}/settings/merge_requests`, shows: ['rule'] },
    'project/settings/repository': { at: `${project}/settings/repository`, shows: ['deploy key', 'deploy token'] },
    'project/snippets/new': `${project}/snippets/new`,
    'project/snippets/[snippet_id]/edit': { at: `${project}/snippets/${snippets.project}/edit`, shows: ['snippet'] },
    'project/wikis/new': `${project}/wikis/new`,
  }

  const forAdministrators: Entries = {
    'instance/admin/index': '/admin',
    'instance/admin/application_settings/index': {
      at: '/admin/application_settings',
      also: ['/admin/application_settings?chapter=other'],
    },
    'instance/admin/applications': { at: '/admin/applications', shows: ['application'] },
    'instance/admin/audit_log': '/admin/audit_log',
    'instance/admin/background_jobs': '/admin/background_jobs',
    'instance/admin/broadcast_messages': { at: '/admin/broadcast_messages', shows: ['broadcast'] },
    'instance/admin/groups': '/admin/groups',
    'instance/admin/hooks/index': { at: '/admin/hooks', shows: ['hook'] },
    'instance/admin/hooks/[hook_id]': { at: `/admin/hooks/${hooks.instance}`, shows: ['hook'] },
    'instance/admin/projects': '/admin/projects',
    'instance/admin/runners': { at: '/admin/runners', shows: ['runner'] },
    'instance/admin/variables': {
      at: '/admin/variables',
      shows: ['variable'],
      also: ['/admin/variables?variable=INSTANCE_KEY'],
    },
    'instance/admin/users/index': { at: '/admin/users', shows: ['Jane'] },
    'instance/admin/users/[username]': { at: '/admin/users/jane', shows: ['Jane'] },
  }

  return [...rows(forEverybody, EVERYBODY), ...rows(forSignedIn, SIGNED_IN), ...rows(forAdministrators, ADMINISTRATORS)]
}

function rows(entries: Entries, found: Address['found']): Address[] {
  return Object.entries(entries).flatMap(([file, entry]): Address[] => {
    const { at, shows = [], also = [], corpus = null } = typeof entry === 'string' ? { at: entry } : entry
    const other = (path: string, isCorpus: boolean) => ({ file, path, found, shows: [], isVariant: true, isCorpus })
    return [
      { file, path: at, found, shows, isVariant: false, isCorpus: false },
      ...also.map((path) => other(path, false)),
      ...(corpus === null ? [] : [other(corpus, true)]),
    ]
  })
}
