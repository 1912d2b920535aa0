/**
 * A forge with a record of everything that pages show. All names are hostile: a page that treats a text as more than
 * text runs it, or shows something else.
 */
import { generateKey } from 'openpgp'
import { startForge, type Person, type TestForge } from '../../src/forge.ts'
import { succeedJob } from '../../src/features/ci/jobs/transitions.ts'
import { URL_POSITIONS, SCHEMES, TRICKS } from '../hostile.ts'
import { findJobByName, keepFiles, runJobByName } from '../pipelines.ts'
import { registerRunner } from '../runners.ts'
import { PIXEL, sshKey } from '../samples.ts'
import { PASSWORD } from './browser.ts'

/** An existing image, so that a request for it is no error of the page. */
const PICTURE = '/-/assets/icon.svg'

/** Runs code if it is treated as markup, in an attribute or in a script. Has no comma, which would separate labels. */
export const hostile = (word: string) =>
  `${word} <img alt=x src=${PICTURE} onload=alert(1)>"'</script><script>alert(1)</script>`

/** Titles of labels and milestones lose their tags: after that, this becomes such a text. */
const nested = (word: string) => hostile(word).replaceAll('<', '<<b>')

/** The whole corpus in one Markdown text, which records that it was run. Most of its images do not exist. */
const CORPUS = [...TRICKS, ...SCHEMES.flatMap((scheme) => URL_POSITIONS.map((place) => place(scheme)))]
  // oxlint-disable-next-line no-control-regex -- texts of the API contain none of these
  .filter((text) => !/[\u0000-\u0008]/.test(text))
  .map((text) => text.replaceAll('alert(1)', 'globalThis.hasRun=1'))
  .join('\n\n')

const lines = (change: Record<number, string> = {}) =>
  Array.from({ length: 30 }, (_, n) => `${change[n + 1] ?? `const line${n + 1} = ${n + 1} // counts`}\n`).join('')

/** Names that git accepts for a branch, and for a file. */
const BRANCH = `topic/<svg/onload=alert(1)>"'#50%`
const TAG = `v2/<svg/onload=alert(1)>"'#50%`
const FILE = `<img onload=alert(1)>"'?#50%.ts`
const WIKI = `<svg onload=alert(1)>"'?#50% page`
/** A valid URL, if it stays within its attribute. */
const ADDRESS = `https://mill.example/?"onclick=alert(1)//'onclick=alert(1)//`
const JOB = hostile('compile')
const ESC = '\u001b'
const LOG = [
  `section_start:100:fetch\r${ESC}[0K${hostile('section')}`,
  hostile('line'),
  `section_end:160:fetch\r${ESC}[0K`,
  `${ESC}[32m${hostile('green')}${ESC}[0m`,
  '<b>no tag</b>',
].join('\n')

const CI = JSON.stringify({
  stages: [hostile('build'), 'test', 'deploy'],
  [JOB]: { stage: hostile('build'), script: 'make', tags: [hostile('tag')], artifacts: { paths: ['out'] } },
  check: { stage: 'test', script: 'make check', needs: [JOB] },
  lint: { stage: 'test', script: 'make lint', allow_failure: true, needs: [] },
  ship: { stage: 'deploy', script: 'make ship', environment: { name: 'staging', url: ADDRESS } },
  later: { stage: 'deploy', script: 'make', when: 'manual' },
})

const JUNIT = `<testsuite name="&lt;img onload=alert(1)&gt;"><testcase name="&lt;script&gt;alert(1)&lt;/script&gt;"/>
  <testcase name="divides"><failure>&lt;script&gt;alert(1)&lt;/script&gt;</failure></testcase></testsuite>`

export interface World extends AsyncDisposable {
  readonly forge: TestForge
  /** Owns the group, the project and nearly everything in it. */
  readonly member: Person
  readonly administrator: Person
  readonly branch: string
  readonly tag: string
  readonly wiki: string
  readonly file: string
  readonly sha: string
  readonly pipeline: number
  readonly job: number
  readonly waitingJob: number
  readonly environment: number
  readonly schedule: number
  readonly board: number
  readonly groupBoard: number
  readonly hooks: Readonly<Record<'project' | 'group' | 'instance', number>>
  readonly delivery: number
  readonly snippets: Readonly<Record<'project' | 'own', number>>
}

type Made = { id: number; iid: number }

export async function makeWorld(): Promise<World> {
  const forge = await startForge()
  try {
    return await fill(forge)
  } catch (error) {
    await forge[Symbol.asyncDispose]()
    throw error
  }
}

async function fill(forge: TestForge): Promise<World> {
  // Files and wiki pages have their own URLs, which a relative path would be resolved against.
  const inFile = (text: string) => text.replaceAll(PICTURE, forge.url + PICTURE)
  const named = { name: hostile('Jane'), bio: hostile('bio'), location: hostile('location'), website_url: ADDRESS }
  const administrator = await forge.user({ username: 'boss', name: 'Boss', password: PASSWORD, admin: true })
  const member = await forge.user({ username: 'jane', password: PASSWORD, ...named, organization: hostile('works') })
  const joe = await forge.user({
    username: 'joe',
    name: hostile('Joe'),
    password: PASSWORD,
    website_url: 'joe.example:80/"onclick=alert(1)//',
  })
  const make = async (path: string, input: object = {}, by = member): Promise<Made> => {
    const { status, body } = await by.post(path, input as Record<string, unknown>)
    if (status >= 300) throw new Error(`POST ${path}: ${status} ${JSON.stringify(body)} ${forge.lastFault()}`)
    return body
  }

  await administrator.put('/application/settings', {
    help_page_text: hostile('help'),
    shared_runners_text: hostile('shared'),
    help_page_support_url: `https://help.example/?"'<script>alert(1)</script>`,
  })
  const group = await forge.group(
    { name: 'Mill', path: 'mill', visibility: 'public', description: hostile('group') },
    member,
  )
  const project = await forge.project(
    {
      name: 'Wheel',
      path: 'wheel',
      namespace_id: group.id,
      visibility: 'public',
      description: hostile('project'),
      topics: ['<img onload=alert(1)>'],
    },
    member,
  )
  await forge.project({ name: 'Empty', path: 'empty', namespace_id: group.id, visibility: 'public' }, member)
  await forge.group({ name: 'Inner', path: 'inner', parent_id: group.id, visibility: 'public' }, member)
  const at = `/projects/${project.id}`
  const inGroup = `/groups/${group.id}`
  await make(`${at}/members`, { user_id: joe.id, access_level: 30 })
  await make(`${at}/star`)

  const receiver = await forge.receiver()
  const hook = { url: `${receiver.url}/?<script>alert(1)</script>`, name: hostile('hook'), push_events: true }
  const hooks = {
    project: (await make(`${at}/hooks`, { ...hook, description: hostile('what it is for') })).id,
    group: (await make(`${inGroup}/hooks`, hook)).id,
    instance: (await make('/hooks', hook, administrator)).id,
  }

  const files = {
    '.gitlab-ci.yml': CI,
    'README.md': inFile(`# The mill\n\n${hostile('readme')}\n\n[stones](src/stone.ts) and \`code\`\n`),
    'corpus.md': CORPUS,
    'src/stone.ts': lines(),
    [FILE]: `// ${hostile('content')}\n`,
    'dot.png': PIXEL,
    'dot.svg': '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>',
  }
  const { id: sha } = await forge.seed(project, files, {
    as: member,
    message: `${hostile('commit')}\n\n${hostile('body')}`,
  })
  await forge.seed(
    project,
    { 'src/stone.ts': lines({ 9: '// <script>alert(1)</script>' }) },
    { as: member, message: 'Turn' },
  )
  await make(`${at}/repository/commits`, {
    branch: 'master',
    commit_message: `Oil it\n\nCo-authored-by: "onclick=alert(1) <javascript:alert(1)@mill.example>`,
    author_name: `"onclick=alert(1)//'`,
    author_email: `javascript:alert(1)//"'@mill.example`,
    actions: [{ action: 'create', file_path: 'oil.txt', content: 'Oil' }],
  })
  await forge.settle()
  const pipeline = await seedPipeline(forge)
  await make(`${at}/repository/commits/${sha}/comments`, {
    note: hostile('remark'),
    path: 'src/stone.ts',
    line: 3,
    line_type: 'new',
  })
  await make(`${at}/statuses/${sha}`, {
    state: 'success',
    name: hostile('status'),
    description: hostile('said'),
    target_url: ADDRESS,
  })

  await make(`${at}/labels`, { name: nested('bug'), color: '#b04020', description: hostile('label'), priority: 1 })
  await make(`${at}/labels`, { name: 'Doing', color: '#3060b0' })
  await make(`${inGroup}/labels`, { name: nested('shared'), color: '#ffdd88' })
  const milestone = { title: nested('v1'), description: hostile('milestone'), due_date: '2030-01-01' }
  const { id: milestone_id } = await make(`${at}/milestones`, milestone)
  await make(`${inGroup}/milestones`, { ...milestone, title: nested('Year one') })
  const planned = { labels: [nested('bug'), 'Doing'], milestone_id, assignee_ids: [member.id] }
  const description = `${hostile('described')}\n\n- [ ] <script>alert(1)</script>\n- [x] look at it`
  await make(`${at}/issues`, { title: hostile('issue'), description, due_date: '2030-01-01', weight: 3, ...planned })
  await make(`${at}/issues`, { title: 'Corpus', description: CORPUS })
  await make(`${at}/issues/1/discussions`, { body: hostile('note') })
  await make(`${at}/issues/2/notes`, { body: CORPUS }, joe)
  await make(`${at}/issues/1/links`, { target_project_id: project.id, target_issue_iid: 2 })
  await make(`${at}/issues/1/award_emoji`, { name: 'tada' })
  const { id: board } = await make(`${at}/boards`, { name: hostile('board') })
  const { id: groupBoard } = await make(`${inGroup}/boards`, { name: hostile('group board') })
  const { body: labels } = await member.get(`${at}/labels`)
  const doing = (labels as { id: number; name: string }[]).find(({ name }) => name === 'Doing')!
  await make(`${at}/boards/${board}/lists`, { label_id: doing.id })

  await seedReview(forge, { at, project, member, joe, planned, description, make })

  await make(`${at}/repository/branches`, { branch: BRANCH, ref: 'master' })
  await make(`${at}/protected_branches`, { name: 'release/*' })
  await make(`${at}/protected_tags`, { name: 'v*' })
  await make(`${at}/repository/tags`, { tag_name: 'v1.0', ref: 'master', message: hostile('tagged') })
  await make(`${at}/repository/tags`, { tag_name: TAG, ref: 'master' })
  await make(`${at}/releases`, { tag_name: TAG, name: TAG })
  await make(`${at}/releases`, {
    tag_name: 'v1.0',
    name: hostile('release'),
    description: `${hostile('news')}\n\n**New**`,
    milestones: [hostile('v1')],
    assets: { links: [{ name: hostile('asset'), url: ADDRESS }] },
  })
  await make(`${at}/wikis`, {
    title: 'home',
    content: inFile(`# Welcome\n\n${hostile('wiki')} [more](guides/install).`),
  })
  await make(`${at}/wikis`, { title: 'guides/install', content: 'Turn it on.' })
  await make(`${at}/wikis`, { title: 'corpus', content: CORPUS })
  await make(`${at}/wikis`, { title: WIKI, content: 'Oil it.' })
  const text = { title: hostile('snippet'), description: hostile('snippet text'), visibility: 'public' }
  const snippet = { ...text, file_name: '<img onload=alert(1)>.ts', content: `// ${hostile('inside')}\nconst a = 1` }
  const snippets = {
    project: (await make(`${at}/snippets`, snippet)).id,
    own: (await make('/snippets', snippet)).id,
  }
  await make(`${at}/snippets/${snippets.project}/notes`, { body: hostile('said of it') })

  const kept = { value: hostile('value'), description: hostile('variable') }
  await make(`${at}/variables`, { key: 'DEPLOY_KEY', ...kept })
  await make(`${inGroup}/variables`, { key: 'GROUP_KEY', ...kept })
  await make('/admin/ci/variables', { key: 'INSTANCE_KEY', ...kept }, administrator)
  await make(`${at}/triggers`, { description: hostile('trigger') })
  const { id: schedule } = await make(`${at}/pipeline_schedules`, {
    description: hostile('schedule'),
    ref: 'master',
    cron: '0 4 * * *',
  })
  await make(`${at}/pipeline_schedules/${schedule}/variables`, { key: 'WHERE', value: hostile('where') })
  await make(`${at}/deploy_keys`, { title: hostile('deploy key'), key: sshKey() })
  const machine = { name: hostile('deploy token'), scopes: ['read_repository'] }
  await make(`${at}/deploy_tokens`, machine)
  await make(`${inGroup}/deploy_tokens`, machine)
  await make(`${at}/approval_rules`, { name: hostile('rule'), approvals_required: 1, user_ids: [joe.id] })
  const token = { name: hostile('token'), description: hostile('for what'), scopes: ['read_api'] }
  await make(`${at}/access_tokens`, token)
  await make(`${inGroup}/access_tokens`, token)
  await make('/user/personal_access_tokens', token)
  await make('/user/keys', { title: hostile('key'), key: sshKey() })
  const userIDs = [{ name: '"onclick=alert(1)', email: 'jane@example.com' }]
  await make('/user/gpg_keys', { key: (await generateKey({ type: 'curve25519', userIDs })).publicKey })
  await member.put(`${at}/integrations/slack`, {
    webhook: `${receiver.url}/slack`,
    username: hostile('robot'),
    channel: hostile('channel'),
  })
  const application = { redirect_uri: 'https://app.example/<script>', scopes: 'api' }
  await make('/applications', { name: hostile('application'), ...application }, administrator)
  await make('/user/applications', { name: hostile('own application'), ...application })
  await make('/broadcast_messages', { message: hostile('broadcast'), ends_at: '2035-01-01' }, administrator)
  await registerRunner(forge, { description: hostile('runner'), tag_list: hostile('runs') })
  const { body: runner } = await member.get(at)
  await registerRunner(
    forge,
    { description: hostile('own runner') },
    (runner as { runners_token: string }).runners_token,
  )
  const ofGroup = { runner_type: 'group_type', group_id: group.id, description: hostile('runner') }
  await make('/user/runners', ofGroup)
  await make(`${inGroup}/ldap_group_links`, { cn: hostile('cn'), group_access: 30, provider: 'ldapmain' })

  // Last, because an action on the issue completes its todo.
  await make(`${at}/issues/1/todo`)
  await forge.settle()
  const { body: environments } = await member.get(`${at}/environments`)
  const { body: deliveries } = await member.get(`${at}/hooks/${hooks.project}/events`)
  return {
    forge,
    member,
    administrator,
    branch: BRANCH,
    tag: TAG,
    wiki: WIKI,
    file: FILE,
    sha,
    ...pipeline,
    environment: (environments as Made[])[0]!.id,
    schedule,
    board,
    groupBoard,
    hooks,
    delivery: (deliveries as Made[])[0]!.id,
    snippets,
    [Symbol.asyncDispose]: () => forge[Symbol.asyncDispose](),
  }
}

/** Jobs with each possible result. */
async function seedPipeline(forge: TestForge): Promise<Pick<World, 'pipeline' | 'job' | 'waitingJob'>> {
  const built = await runJobByName(forge, JOB, { log: LOG, files: { 'out/a.txt': 'a', [`out/deep/${FILE}`]: 'b' } })
  const check = await runJobByName(forge, 'check', { isLeftRunning: true })
  await keepFiles(forge, check, { 'junit.xml': JUNIT }, { file_type: 'junit', file_format: 'raw' })
  await succeedJob(forge.app, await findJobByName(forge, 'check'))
  await runJobByName(forge, 'lint', { log: hostile('broken'), fails: { reason: 'script_failure' } })
  await runJobByName(forge, 'ship', { log: 'shipped' })
  return { pipeline: built.pipeline_id, job: built.id, waitingJob: (await findJobByName(forge, 'later')).id }
}

interface Review {
  readonly at: string
  readonly project: { id: number }
  readonly member: Person
  readonly joe: Person
  readonly planned: object
  readonly description: string
  readonly make: (path: string, input?: object, by?: Person) => Promise<Made>
}

/** A merge request with threads at lines, a draft that depends on it, and one with draft notes of a review. */
async function seedReview(forge: TestForge, { at, project, member, joe, planned, description, make }: Review) {
  const change = {
    'src/stone.ts': lines({ 5: hostile('// faster'), 20: '// sieves' }),
    'sieve.ts': `// ${hostile('new')}\n`,
  }
  const request = {
    title: hostile('merge'),
    source_branch: 'faster',
    files: change,
    description,
    reviewer_ids: [joe.id],
  }
  const { iid } = await forge.mergeRequest(project, { ...request, ...planned }, member)
  const { body: detail } = await member.get(`${at}/merge_requests/${iid}`)
  const { diff_refs } = detail as { diff_refs: object }
  const position = {
    position_type: 'text',
    ...diff_refs,
    new_path: 'src/stone.ts',
    old_path: 'src/stone.ts',
    new_line: 5,
  }
  const body = `${hostile('review')}\n\n\`\`\`suggestion\n// <script>alert(1)</script>\n\`\`\``
  await make(`${at}/merge_requests/${iid}/discussions`, { body, position }, joe)
  await make(`${at}/merge_requests/${iid}/discussions`, { body: hostile('talk') })
  await make(`${at}/merge_requests/${iid}/draft_notes`, { note: hostile('draft') })
  await make(`${at}/merge_requests/${iid}/approve`, {}, joe)
  await forge.mergeRequest(project, { title: 'Draft: Sharper', target_branch: 'faster' }, member)
  await forge.seed(
    project,
    { 'belt.txt': 'A belt\n' },
    { branch: '9-new-belt', message: hostile('A belt'), as: member },
  )
}
