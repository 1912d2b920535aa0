/**
 * What a viewer may do, by the call that a page makes for it. The server answers with the checks that the endpoint of
 * the call declares. A third word names another ability of that endpoint's resource.
 */
import type { calls } from './schema.ts'

type Call = { [V in keyof calls]: `${Uppercase<V>} ${keyof calls[V] & string}` }[keyof calls]

const ISSUE = '/projects/{id}/issues/{issue_iid}'
const MERGE_REQUEST = '/projects/{id}/merge_requests/{merge_request_iid}'

export const ABILITIES = {
  project: {
    administer: 'PUT /projects/{id}',
    own: 'DELETE /projects/{id}',
    manageMembers: 'POST /projects/{id}/members',
    push: 'POST /projects/{id}/repository/branches',
    undoRefChanges: 'POST /projects/{id}/repository/ref_changes/{change_id}/undo',
    release: 'POST /projects/{id}/releases',
    commentOnCommits: 'POST /projects/{id}/repository/commits/{sha}/comments',
    createMergeRequest: 'POST /projects/{id}/merge_requests',
    setApprovals: 'POST /projects/{id}/approval_rules',
    createIssue: 'POST /projects/{id}/issues',
    /** Labels, milestones, and the fields of issues that are planned with them. */
    plan: 'POST /projects/{id}/labels',
    planBoards: 'POST /projects/{id}/boards',
    /** Deleted issues, merge requests, labels and milestones. */
    restore: 'GET /projects/{id}/deleted_items',
    createSnippet: 'POST /projects/{id}/snippets',
    writeWiki: 'POST /projects/{id}/wikis',
    deleteWikiPages: 'DELETE /projects/{id}/wikis/{slug}',
    /** Pipelines, their jobs, schedules and environments. */
    run: 'POST /projects/{id}/pipeline',
    administerPipelines: 'POST /projects/{id}/triggers',
    deletePipelines: 'DELETE /projects/{id}/pipelines/{pipeline_id}',
    deleteArtifacts: 'DELETE /projects/{id}/jobs/{job_id}/artifacts',
    manageEnvironments: 'PUT /projects/{id}/environments/{environment_id}',
  },
  group: {
    own: 'PUT /groups/{id}',
    manageMembers: 'POST /groups/{id}/members',
    createSubgroups: 'GET /groups/{id} createSubgroups',
    createProjects: 'GET /groups/{id} createProjects',
    plan: 'POST /groups/{id}/labels',
    planBoards: 'POST /groups/{id}/boards',
    restore: 'GET /groups/{id}/deleted_items',
  },
  issue: {
    update: `PUT ${ISSUE}`,
    plan: `POST ${ISSUE}/links`,
    comment: `POST ${ISSUE}/notes`,
    subscribe: `POST ${ISSUE}/subscribe`,
    destroy: `DELETE ${ISSUE}`,
  },
  mergeRequest: {
    /** Title, description, state, time, dependencies, rebase. */
    update: `PUT ${MERGE_REQUEST}`,
    /** Labels, milestone, assignees, reviewers and approval rules. */
    plan: `POST ${MERGE_REQUEST}/approval_rules`,
    comment: `POST ${MERGE_REQUEST}/notes`,
    resolve: `PUT ${MERGE_REQUEST}/discussions/{discussion_id}`,
    subscribe: `POST ${MERGE_REQUEST}/subscribe`,
    remember: `POST ${MERGE_REQUEST}/todo`,
    destroy: `DELETE ${MERGE_REQUEST}`,
  },
  projectSnippet: { change: 'PUT /projects/{id}/snippets/{snippet_id}' },
  snippet: { change: 'PUT /snippets/{id}' },
} as const satisfies Record<string, Readonly<Record<string, Call | `${Call} ${string}`>>>

/** The parameters of each kind of record. */
export const PARAMS = {
  project: ['id'],
  group: ['id'],
  issue: ['id', 'issue_iid'],
  mergeRequest: ['id', 'merge_request_iid'],
  projectSnippet: ['id', 'snippet_id'],
  snippet: ['id'],
} as const satisfies Record<AbilityKind, readonly string[]>

export type AbilityKind = keyof typeof ABILITIES
export type AbilityParams<K extends AbilityKind> = Readonly<Record<(typeof PARAMS)[K][number], string | number>>
export type Can<K extends AbilityKind> = { readonly [A in keyof (typeof ABILITIES)[K]]: boolean }
