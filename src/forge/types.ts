/// <reference lib="esnext.disposable" />
/**
 * The package's public types, all of them: this file is published as it is and imports nothing, so that whoever
 * compiles against mortise needs none of the libraries it is made with.
 */

/** A real forge on a free port, over a temporary store of its own; gone when it is closed. */
export declare function startForge(options?: ForgeOptions): Promise<Forge>

export interface ForgeOptions {
  /** Settings as the environment names them without their prefix, e.g. `{ RATE_LIMIT: '10' }`. */
  settings?: Record<string, string>
  /** `postgres://…` of a server on which a database of its own is made; SQLite without. */
  databaseUrl?: string | undefined
  /** Where log lines go, e.g. `process.stdout`. */
  logTo?: { write(line: string): void } | undefined
  /** Milliseconds that closing waits for requests that are still running. */
  patience?: number | undefined
}

export interface Forge extends AsyncDisposable {
  /** Its address, without a slash at its end. */
  readonly url: string
  readonly clock: ForgeClock
  /** Calls without any credential. */
  readonly visitor: Client
  /** The first administrator, `root`. */
  readonly administrator: Person

  /** A new user, ready to call. */
  user(request?: UserInput): Promise<Person>
  /** A new group of `owner`, as the API answers it. */
  group(request?: GroupInput, owner?: Person): Promise<Group>
  /** A new project of `owner`, in their own namespace unless `namespace_id` says otherwise, as the API answers it. */
  project(request?: ProjectInput, owner?: Person): Promise<Project>
  /** A new label of a project or a group, as the API answers it. */
  label(place: Project | Group, request?: LabelInput, as?: Person): Promise<Label>
  /** A new milestone of a project or a group, as the API answers it. */
  milestone(place: Project | Group, request?: MilestoneInput, as?: Person): Promise<Milestone>
  /** A new issue of a project, as the API answers it. */
  issue(project: { readonly id: number }, request?: IssueInput, as?: Person): Promise<Issue>
  /** A new note on an issue, as the API answers it. */
  note(issue: { readonly project_id: number; readonly iid: number }, request?: NoteInput, as?: Person): Promise<Note>
  /** A new snippet of a project, or with null one of the person themselves, as the API answers it. */
  snippet(project: { readonly id: number } | null, request?: SnippetInput, as?: Person): Promise<Snippet>
  /** A branch with a commit of files on it, and a merge request of it, as the API answers it. */
  mergeRequest(project: { readonly id: number }, request?: MergeRequestInput, as?: Person): Promise<MergeRequest>
  /** Commits files to a project; null deletes one. */
  seed(project: { readonly id: number }, files: Files, request?: SeedInput): Promise<Commit>
  /** Runs git with somebody's credentials for this forge; what it printed, or an error that says why it failed. */
  git(args: readonly string[], request?: GitInput): Promise<string>
  /** Runs CI jobs of this forge in the shell, as the user of this process, until it is stopped or the forge closed. */
  runner(request?: RunnerInput): Promise<ForgeRunner>
  /** An address that collects deliveries of hooks and services, until it or the forge is closed. */
  receiver(): Promise<Receiver>
  /** What was mailed so far, oldest first, once all background work that is due has been done. */
  mail(): Promise<ForgeMail[]>
  /** The caller that these headers make. */
  as(headers: Record<string, string>): Client

  /** Names of the events told so far, oldest first. */
  events(): Promise<string[]>
  /** The same events with what they told. */
  eventLog(): Promise<ForgeEvent[]>
  /** What the forge was asked over HTTP, by whomever, oldest first; the last 10,000. */
  requests(): ForgeRequest[]
  /** How many queries `work` sent to the store; background work rests meanwhile. */
  queries(work: () => Promise<unknown>): Promise<number>
  /** Waits until all background work that is due has been done. */
  settle(): Promise<void>

  /** As it was when it started, at the same address, sooner than another forge starts. Nobody may be asking meanwhile. */
  reset(): Promise<void>
  /** Lets running requests finish and removes everything; `await using` does it by itself. */
  close(): Promise<void>
}

/** Goes with the system's time, moved by as much as was told; held, it stands. */
export interface ForgeClock {
  now(): Date
  advance(ms: number): void
  hold(): Disposable
}

type Query = Record<string, unknown>
type Input = Record<string, unknown> | FormData
type RequestHeaders = Record<string, string>

/** Someone who calls the API. Paths are relative to `/api/v4`; input goes into the query of a GET, else into JSON. */
export interface Client {
  readonly url: string
  readonly headers: RequestHeaders
  get(path: string, input?: Query, headers?: RequestHeaders): Promise<Reply>
  head(path: string): Promise<Reply>
  post(path: string, input?: Input, headers?: RequestHeaders): Promise<Reply>
  put(path: string, input?: Input, headers?: RequestHeaders): Promise<Reply>
  delete(path: string, input?: Input, headers?: RequestHeaders): Promise<Reply>
  request(method: string, path: string, input?: Input, headers?: RequestHeaders): Promise<Reply>
}

/** A user of the forge, calling with their private token. */
export interface Person extends Client {
  readonly id: number
  readonly username: string
  readonly email: string
  readonly token: string
}

// oxlint-disable-next-line no-explicit-any -- a test reads an answer as it expects it
type Json = any

export interface Reply {
  readonly status: number
  /** Parsed where it is JSON, else text. */
  readonly body: Json
  readonly headers: Headers
}

export interface ForgeEvent {
  readonly name: string
  readonly payload: Json
  readonly created_at: string
}

export interface ForgeRequest {
  readonly method: string
  /** With its query, as it was asked. */
  readonly path: string
  /** Null while it is not answered yet. */
  readonly status: number | null
}

export interface RunnerInput {
  /** Jobs at a time; one unless told. */
  concurrent?: number
  /** Jobs without tags are run in any case. */
  tags?: readonly string[]
}

export interface ForgeRunner extends AsyncDisposable {
  readonly id: number
  /** Running jobs are handed back at once. */
  stop(): Promise<void>
}

/** Something that was sent to a receiver. */
export interface Delivery {
  /** As its body says (`object_kind`, `event_name`), else its header: `issue`, `push`, `pipeline`, `user_create` … */
  readonly kind: string
  /** The header `X-Gitlab-Event`, e.g. `Issue Hook`. */
  readonly event: string | null
  readonly method: string
  /** With its query. */
  readonly path: string
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Parsed where it is JSON, else text. */
  readonly body: Json
}

export interface ReceiverAnswer {
  /** 200 unless told. */
  status?: number
  headers?: Record<string, string>
  text?: string
  /** Milliseconds until it is answered. */
  delay?: number
  /** Takes the delivery and never answers. */
  hang?: boolean
  /** For so many deliveries; those after them are answered with 200 again. */
  times?: number
}

export interface Receiver extends AsyncDisposable {
  /** For the `url` of a hook; anything may be added to it. */
  readonly url: string
  /** All that came so far, oldest first; the last 10,000. */
  readonly deliveries: readonly Delivery[]
  /**
   * The oldest delivery that was not handed out yet, of this kind (`issue`, also `confidential_issue` or `Issue Hook`)
   * or of any. Waits for it, up to 5 seconds unless told; then it is thrown what came instead.
   */
  next(kind?: string, request?: { timeout?: number }): Promise<Delivery>
  /** How deliveries are answered from now on: `{ status: 500 }`, `{ hang: true }`, `{ delay: 2000 }`. */
  answer(request: ReceiverAnswer): void
  /** Forgets what came and how it should answer. */
  clear(): void
  close(): Promise<void>
}

export interface ForgeMail {
  readonly to: string
  readonly subject: string
  readonly text: string
  /** Null where there is only the text. */
  readonly html: string | null
  /** Those beyond sender, receiver and subject, by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

/** By path. */
export type Files = Readonly<Record<string, string | Uint8Array | null>>

export interface SeedInput {
  /** The project's default branch, or `master`. Another one that is not there yet begins at the default branch. */
  branch?: string
  message?: string
  /** Who commits; the administrator unless named. */
  as?: Person
}

export interface GitInput {
  /** Whose credentials; the administrator's unless named. */
  as?: Person
  /** Where it runs; a folder of the forge, the same for every call, unless named. */
  cwd?: string
}

export type Visibility = 'private' | 'internal' | 'public'
export type FeatureLevel = 'disabled' | 'private' | 'enabled'

export interface UserInput {
  username?: string
  email?: string
  name?: string
  password?: string | null
  admin?: boolean | null
  external?: boolean | null
  blocked?: boolean
  can_create_group?: boolean | null
  projects_limit?: number | null
  reset_password?: boolean | null
  skip_confirmation?: boolean | null
  bio?: string | null
  location?: string | null
  organization?: string | null
  messenger?: string | null
  professional_network?: string | null
  microblog?: string | null
  website_url?: string | null
  job_title?: string | null
  pronouns?: string | null
  public_email?: string | null
  note?: string | null
  shared_runners_minutes_limit?: number | null
  provider?: string | null
  extern_uid?: string | null
}

export interface GroupInput {
  name?: string
  path?: string
  parent_id?: number | null
  description?: string
  visibility?: Visibility
  lfs_enabled?: boolean
  request_access_enabled?: boolean
  share_with_group_lock?: boolean
  membership_lock?: boolean
  shared_runners_minutes_limit?: number
}

export interface Group {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly description: string
  readonly visibility: Visibility
  readonly avatar_url: string | null
  readonly web_url: string
  readonly request_access_enabled: boolean
  readonly full_name: string
  readonly full_path: string
  readonly parent_id: number | null
  readonly created_at: string
  readonly share_with_group_lock: boolean
  readonly membership_lock: boolean
}

/** What a project is asked to be and answers to be. */
interface ProjectAttributes {
  name: string
  path: string
  description: string | null
  visibility: Visibility
  default_branch: string | null
  topics: string[]
  tag_list: string[]
  issues_enabled: boolean
  merge_requests_enabled: boolean
  jobs_enabled: boolean
  wiki_enabled: boolean
  snippets_enabled: boolean
  container_registry_enabled: boolean
  repository_access_level: FeatureLevel
  issues_access_level: FeatureLevel
  merge_requests_access_level: FeatureLevel
  builds_access_level: FeatureLevel
  wiki_access_level: FeatureLevel
  snippets_access_level: FeatureLevel
  forking_access_level: FeatureLevel
  container_registry_access_level: FeatureLevel
  resolve_outdated_diff_discussions: boolean
  shared_runners_enabled: boolean
  public_jobs: boolean
  only_allow_merge_if_pipeline_succeeds: boolean
  only_allow_merge_if_all_discussions_are_resolved: boolean
  printing_merge_requests_link_enabled: boolean
  printing_merge_request_link_enabled: boolean
  lfs_enabled: boolean
  request_access_enabled: boolean
  remove_source_branch_after_merge: boolean
  merge_method: 'merge' | 'rebase_merge' | 'ff'
  squash_option: 'never' | 'always' | 'default_on' | 'default_off'
  approvals_before_merge: number
  ci_config_path: string | null
  repository_storage: string
  import_url: string | null
}

export interface ProjectInput extends Partial<ProjectAttributes> {
  namespace_id?: number
  initialize_with_readme?: boolean
}

export interface Project extends Readonly<ProjectAttributes> {
  readonly id: number
  readonly name_with_namespace: string
  readonly path_with_namespace: string
  /** Empty where the forge serves no SSH. */
  readonly ssh_url_to_repo: string
  readonly http_url_to_repo: string
  readonly web_url: string
  readonly readme_url: string | null
  readonly avatar_url: string | null
  readonly star_count: number
  readonly forks_count: number
  readonly created_at: string
  readonly updated_at: string
  readonly last_activity_at: string
  readonly archived: boolean
  readonly empty_repo: boolean
  readonly creator_id: number | null
  readonly namespace: {
    readonly id: number
    readonly name: string
    readonly path: string
    readonly kind: 'user' | 'group'
    readonly full_path: string
  }
  readonly mirror: boolean
  readonly import_status: 'none' | 'scheduled' | 'started' | 'finished' | 'failed'
  /** For those who administer it. */
  readonly runners_token?: string | undefined
}

export interface IssueInput {
  title?: string
  description?: string | null
  confidential?: boolean
  /** Titles; those that are unknown are made. */
  labels?: readonly string[]
  milestone_id?: number
  assignee_ids?: readonly number[]
  due_date?: string
  weight?: number
}

export interface Issue {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly title: string
  readonly description: string | null
  readonly state: 'opened' | 'closed'
  readonly labels: readonly unknown[]
  readonly confidential: boolean
  readonly web_url: string
  readonly created_at: string
  readonly updated_at: string
  readonly [field: string]: unknown
}

export interface MergeRequestInput {
  /** What its branch changes; a file of its own unless named. */
  files?: Files
  title?: string
  description?: string | null
  /** A new one unless named; where it is there, the files are committed to it. */
  source_branch?: string
  /** The default branch unless named. */
  target_branch?: string
  /** Of a fork: where it goes. */
  target_project_id?: number
  labels?: readonly string[]
  milestone_id?: number
  assignee_ids?: readonly number[]
  reviewer_ids?: readonly number[]
  squash?: boolean
  remove_source_branch?: boolean
}

export interface MergeRequest {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly title: string
  readonly description: string | null
  readonly state: 'opened' | 'closed' | 'merged'
  readonly source_branch: string
  readonly target_branch: string
  readonly sha: string | null
  readonly draft: boolean
  readonly merge_status: 'unchecked' | 'can_be_merged' | 'cannot_be_merged'
  readonly web_url: string
  readonly created_at: string
  readonly updated_at: string
  readonly [field: string]: unknown
}

export interface LabelInput {
  name?: string
  /** `#RRGGBB`, `#RGB` or a name that CSS knows. */
  color?: string
  description?: string | null
  /** Of a project's. */
  priority?: number
}

export interface Label {
  readonly id: number
  readonly name: string
  readonly color: string
  readonly text_color: string
  readonly description: string | null
  readonly description_html: string | null
  readonly open_issues_count?: number | undefined
  readonly closed_issues_count?: number | undefined
  readonly open_merge_requests_count?: number | undefined
  readonly subscribed: boolean
  /** In a project. */
  readonly priority?: number | null | undefined
  readonly is_project_label?: boolean | undefined
}

export interface MilestoneInput {
  title?: string
  description?: string | null
  /** `YYYY-MM-DD`, as is the next. */
  start_date?: string | null
  due_date?: string | null
}

export interface Milestone {
  readonly id: number
  readonly iid: number
  /** One of the two: whose it is. */
  readonly project_id?: number | undefined
  readonly group_id?: number | undefined
  readonly title: string
  readonly description: string | null
  readonly state: 'active' | 'closed'
  readonly created_at: string
  readonly updated_at: string
  readonly start_date: string | null
  readonly due_date: string | null
  readonly expired: boolean
  readonly web_url: string
}

export interface NoteInput {
  body?: string
  internal?: boolean
  /** For those who own the project. */
  created_at?: string
}

export interface Note {
  readonly id: number
  readonly type: 'DiscussionNote' | 'DiffNote' | null
  readonly body: string
  readonly author: { readonly id: number; readonly username: string; readonly name: string } | null
  readonly created_at: string
  readonly updated_at: string
  readonly system: boolean
  readonly noteable_id: number | null
  readonly noteable_type: string
  readonly noteable_iid: number | null
  readonly project_id: number
  readonly internal: boolean
}

export interface SnippetInput {
  title?: string
  description?: string | null
  /** Private unless told. */
  visibility?: 'private' | 'internal' | 'public'
  /** One file, or several by `files`. */
  file_name?: string
  content?: string
  files?: readonly { file_path: string; content: string }[]
}

export interface Snippet {
  readonly id: number
  readonly title: string
  readonly description: string | null
  readonly visibility: 'private' | 'internal' | 'public'
  readonly author: { readonly id: number; readonly username: string; readonly name: string }
  readonly created_at: string
  readonly updated_at: string
  /** Null for one of a person. */
  readonly project_id: number | null
  readonly web_url: string
  readonly raw_url: string
  /** The first of them. */
  readonly file_name: string
  readonly files: readonly { readonly path: string; readonly raw_url: string }[]
}

export interface Commit {
  readonly id: string
  readonly short_id: string
  readonly title: string
  readonly message: string
  readonly created_at: string
  readonly parent_ids: readonly string[]
  readonly author_name: string
  readonly author_email: string
  readonly authored_date: string
  readonly committer_name: string
  readonly committer_email: string
  readonly committed_date: string
  readonly web_url: string
  readonly project_id: number
}
