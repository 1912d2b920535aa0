import { pageBelow } from '../../../../lib/net/page-below.ts'
import { flag, line, longer, required, secret, service, url } from '../declare.ts'
import { basic, below, hookNameOf, postJson, relay } from '../requests.ts'
import { isDeletion, nameOfRef, textOf, type ServicePayload } from '../payload.ts'

const ssl = { enable_ssl_verification: flag(true) }
const login = { username: required(line()), password: required(secret) }

/** The branch of a push that did not delete it. */
const builtBranch = ({ event, body }: ServicePayload): string | null =>
  event === 'push' && !isDeletion(body) ? nameOfRef(body.ref) : null

const isOpenRequest = ({ event, body }: ServicePayload): boolean =>
  event === 'merge_request' && ['opened', 'reopened'].includes(body.object_attributes?.state ?? '')

export const bamboo = service({
  slug: 'bamboo',
  title: 'Atlassian Bamboo CI',
  fields: { bamboo_url: required(url), build_key: required(line()), ...login, ...ssl },
  events: ['push'],
  requests(payload) {
    if (builtBranch(payload) === null) return []
    const query = { buildKey: textOf(payload, 'build_key'), os_authType: 'basic' }
    return [
      {
        method: 'POST',
        url: below(payload, 'bamboo_url', 'updateAndBuild.action', query),
        headers: basic(textOf(payload, 'username'), textOf(payload, 'password')),
        verifyTls: payload.settings.enable_ssl_verification !== false,
      },
    ]
  },
})

const inXml = (text: string) => text.replace(/[&<>"']/g, (c) => `&#${c.codePointAt(0)};`)

export const teamcity = service({
  slug: 'teamcity',
  title: 'JetBrains TeamCity',
  fields: { teamcity_url: required(url), build_type: required(line()), ...login, ...ssl },
  events: ['push', 'merge_request'],
  requests(payload) {
    const isChanged =
      isOpenRequest(payload) && ['open', 'reopen', 'update'].includes(payload.body.object_attributes?.action ?? '')
    const branch = isChanged ? (payload.body.object_attributes?.source_branch ?? null) : builtBranch(payload)
    if (branch === null) return []
    return [
      {
        method: 'POST',
        url: below(payload, 'teamcity_url', 'httpAuth/app/rest/buildQueue'),
        headers: {
          ...basic(textOf(payload, 'username'), textOf(payload, 'password')),
          'Content-Type': 'application/xml',
        },
        body: `<build branchName="${inXml(branch)}"><buildType id="${inXml(textOf(payload, 'build_type'))}"/></build>`,
        verifyTls: payload.settings.enable_ssl_verification !== false,
      },
    ]
  },
})

export const droneCi = service({
  slug: 'drone-ci',
  title: 'Drone',
  fields: { token: required(secret), drone_url: required(url), ...ssl },
  events: ['push', 'tag_push', 'merge_request'],
  requests(payload) {
    const { event, body, project } = payload
    if (event === 'merge_request' ? !isOpenRequest(payload) : isDeletion(body)) return []
    const query = { owner: project.namespace, name: project.path, access_token: textOf(payload, 'token') }
    return [relay(payload, below(payload, 'drone_url', 'api/hook', query))]
  },
})

export const buildkite = service({
  slug: 'buildkite',
  title: 'Buildkite',
  fields: { token: required(secret), project_url: required(url), ...ssl },
  events: ['push', 'tag_push', 'merge_request'],
  requests(payload) {
    // The first part is the webhook token. The part after the colon is for queries of build results.
    const [token = ''] = textOf(payload, 'token').split(':')
    return [relay(payload, `https://webhook.buildkite.com/deliver/${encodeURIComponent(token)}`)]
  },
})

export const jenkins = service({
  slug: 'jenkins',
  title: 'Jenkins',
  fields: {
    jenkins_url: required(url),
    project_name: required(line()),
    username: line(),
    password: secret,
    ...ssl,
  },
  events: ['push', 'tag_push', 'merge_request'],
  requests(payload) {
    const job = textOf(payload, 'project_name').split('/').map(encodeURIComponent).join('/')
    return [
      relay(payload, below(payload, 'jenkins_url', `project/${job}`), {
        ...basic(textOf(payload, 'username'), textOf(payload, 'password')),
        'X-Gitlab-Event': hookNameOf(payload),
      }),
    ]
  },
})

export const packagist = service({
  slug: 'packagist',
  title: 'Packagist',
  fields: { username: required(line()), token: required(secret), server: url },
  events: ['push', 'tag_push', 'merge_request'],
  requests(payload) {
    const query = { username: textOf(payload, 'username'), apiToken: textOf(payload, 'token') }
    const server = textOf(payload, 'server') || 'https://packagist.org'
    const settings = { ...payload.settings, server }
    return [relay(payload, below({ ...payload, settings }, 'server', 'api/update-package', query))]
  },
})

export const datadog = service({
  slug: 'datadog',
  title: 'Datadog',
  fields: {
    api_key: required(secret),
    api_url: url,
    datadog_site: { ...line(), preset: 'datadoghq.com' },
    datadog_env: line(),
    datadog_service: line(),
    datadog_tags: longer,
  },
  events: ['pipeline', 'job'],
  requests(payload) {
    const site = textOf(payload, 'datadog_site').replace(/[^\w.-]/g, '')
    const base = textOf(payload, 'api_url') || `https://webhook-intake.${site}/api/v2/webhook`
    const query = {
      service: textOf(payload, 'datadog_service'),
      env: textOf(payload, 'datadog_env'),
      tags: textOf(payload, 'datadog_tags')
        .split(/[\n,]/)
        .map((tag) => tag.trim())
        .filter(Boolean)
        .join(','),
    }
    const address = new URL(base)
    for (const [name, value] of Object.entries(query)) if (value) address.searchParams.set(name, value)
    return [relay(payload, address.href, { 'DD-API-KEY': textOf(payload, 'api_key') })]
  },
})

const GITHUB_STATES: Readonly<Record<string, string>> = {
  pending: 'pending',
  created: 'pending',
  running: 'pending',
  manual: 'pending',
  success: 'success',
  skipped: 'success',
  failed: 'failure',
  canceled: 'error',
}

/** Turns `https://github.com/owner/name` into the URL of its status API. Null if the URL has another form. */
function statusesOf(repository: string, sha: string): string | null {
  const address = URL.parse(repository)
  const [, owner, name] = /^\/([\w.-]+)\/([\w.-]+?)(?:\.git)?\/?$/.exec(address?.pathname ?? '') ?? []
  if (!address || !owner || !name) return null
  const api = address.hostname === 'github.com' ? 'https://api.github.com' : `${address.origin}/api/v3`
  return `${api}/repos/${owner}/${name}/statuses/${sha}`
}

export const github = service({
  slug: 'github',
  title: 'GitHub',
  fields: { token: required(secret), repository_url: required(url), static_context: flag(true) },
  events: ['pipeline'],
  requests(payload) {
    const { id, status, sha, ref } = payload.body.object_attributes ?? {}
    const address = statusesOf(textOf(payload, 'repository_url'), sha ?? '')
    const state = GITHUB_STATES[status ?? '']
    if (!address || !state || !/^[0-9a-f]{40,64}$/.test(sha ?? '')) return []
    const context =
      payload.settings.static_context === false
        ? `ci/mortise/${nameOfRef(ref)}`
        : `ci/mortise/${new URL(payload.instance.url).host}`
    return [
      postJson(
        address,
        {
          state,
          context: context.slice(0, 255),
          description: `Pipeline ${status}`,
          target_url: pageBelow(payload.project.web_url, `pipelines/${id}`),
        },
        { Authorization: `Bearer ${textOf(payload, 'token')}`, 'User-Agent': 'Mortise' },
      ),
    ]
  },
})

export const assembla = service({
  slug: 'assembla',
  title: 'Assembla',
  fields: { token: required(secret), subdomain: line() },
  events: ['push'],
  requests(payload) {
    const space = encodeURIComponent(textOf(payload, 'subdomain'))
    const query = new URLSearchParams({ secret_key: textOf(payload, 'token') })
    return [postJson(`https://atlas.assembla.com/spaces/${space}/github_tool?${query}`, { payload: payload.body })]
  },
})

/** Whether the service wants this branch. An empty setting means every branch. */
const isForBranch = (payload: ServicePayload): boolean => {
  const branches = textOf(payload, 'restrict_to_branch')
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
  return branches.length === 0 || branches.includes(nameOfRef(payload.body.ref))
}

export const pivotaltracker = service({
  slug: 'pivotaltracker',
  title: 'Pivotal Tracker',
  fields: { token: required(secret), restrict_to_branch: line(2000) },
  events: ['push'],
  requests(payload) {
    if (!isForBranch(payload)) return []
    return (payload.body.commits ?? []).map(({ id, message, author, url }) =>
      postJson(
        'https://www.pivotaltracker.com/services/v5/source_commits',
        { source_commit: { commit_id: id, author: author?.name ?? '', url: url ?? '', message: message ?? '' } },
        { 'X-TrackerToken': textOf(payload, 'token') },
      ),
    )
  },
})

/** Matches `fixes #123`, `#123` or the URL of a task, with the word that closes it. */
const TASK =
  /\b(fix(?:ed|es|ing)?|clos(?:ed|es|ing|e)|done)?:?\s{0,3}(?:#(\d{1,20})\b|https:\/\/app\.asana\.com\/\d{1,5}\/\d{1,20}\/(\d{1,20}))/gi
const MOST_TASKS = 20

export const asana = service({
  slug: 'asana',
  title: 'Asana',
  fields: { api_key: required(secret), restrict_to_branch: line(2000) },
  events: ['push'],
  probe: (payload) => ({
    url: 'https://app.asana.com/api/1.0/users/me',
    headers: { Authorization: `Bearer ${textOf(payload, 'api_key')}` },
  }),
  requests(payload) {
    if (!isForBranch(payload)) return []
    const headers = { Authorization: `Bearer ${textOf(payload, 'api_key')}` }
    const { body, project } = payload
    const found = (body.commits ?? []).flatMap((commit) =>
      [...(commit.message ?? '').slice(0, 10_000).matchAll(TASK)].map(([, closing, number, linked]) => ({
        commit,
        isDone: closing !== undefined,
        task: number ?? linked!,
      })),
    )
    return found.slice(0, MOST_TASKS).flatMap(({ commit, isDone, task }) => {
      const text = `${body.user_name ?? ''} pushed to branch ${nameOfRef(body.ref)} of ${project.name_with_namespace} ( ${commit.url} ): ${commit.message ?? ''}`
      const address = `https://app.asana.com/api/1.0/tasks/${task}`
      const comment = postJson(`${address}/stories`, { data: { text: text.slice(0, 10_000) } }, headers)
      return isDone
        ? [comment, { ...postJson(address, { data: { completed: true } }, headers), method: 'PUT' as const }]
        : [comment]
    })
  },
})

export const squashTm = service({
  slug: 'squash-tm',
  title: 'Squash TM',
  fields: { url: required(url), token: secret },
  events: ['issue', 'confidential_issue'],
  requests(payload) {
    const token = textOf(payload, 'token')
    return [
      relay(payload, textOf(payload, 'url'), {
        'X-Gitlab-Event': payload.event === 'issue' ? 'Issue Hook' : 'Confidential Issue Hook',
        'X-Squash-TM-Integration': 'GitLab',
        ...(token && { 'X-Gitlab-Token': token }),
      }),
    ]
  },
})
