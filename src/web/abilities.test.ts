/** What pages offer is what the endpoints let the viewer do: abilities are compared with the answers of the calls. */
import { globSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testDatabaseUrl } from '../config.ts'
import { startForge } from '../forge.ts'
import { addressOf, call, inputOf, setStage, type Case, type Input, type Stage } from '../../test/cases.ts'
import { CALLERS, type CallerName } from '../../test/cast.ts'
import { cases } from '../../test/endpoints.ts'
import { ABILITIES, PARAMS, type AbilityKind } from '../../web/abilities.ts'

const REFUSED = [401, 403, 404]

/** On PostgreSQL the private group and project have to do: visibility is decided by the same code on both stores. */
const VISIBILITIES = (['private', 'public'] as const).slice(0, testDatabaseUrl() === undefined ? 2 : 1)

/** Abilities that another endpoint checks only once it knows its input. */
const ELSEWHERE: Record<string, [path: string, input: (s: Stage, name: string) => Record<string, unknown>]> = {
  'GET /groups/{id} createSubgroups': ['/groups', (s, name) => ({ name, path: name, parent_id: s.group.id })],
  'GET /groups/{id} createProjects': ['/projects', (s, name) => ({ name, path: name, namespace_id: s.group.id })],
}

interface Named {
  path_with_namespace: string
}

/** A page, a link below the project or group or the action of a form on it, and the ability that it needs. */
const BUTTONS: [path: string, button: string, kind: AbilityKind, ability: string][] = [
  ['', '/-/edit', 'project', 'administer'],
  ['', '/-/new/master', 'project', 'push'],
  ['/-/branches', 'create', 'project', 'push'],
  ['/-/tags', 'create', 'project', 'push'],
  ['/-/ref_changes', 'undo', 'project', 'undoRefChanges'],
  ['/-/releases', '/-/releases/new', 'project', 'release'],
  ['/-/issues', '/-/issues/new', 'project', 'createIssue'],
  ['/-/labels', 'create', 'project', 'plan'],
  ['/-/milestones', '/-/milestones/new', 'project', 'plan'],
  ['/-/snippets', '/-/snippets/new', 'project', 'createSnippet'],
  ['/-/wikis/pages', '/-/wikis/new', 'project', 'writeWiki'],
  ['/-/pipelines', '/-/pipelines/new', 'project', 'run'],
  ['/-/environments', 'create', 'project', 'run'],
  ['/-/project_members', 'invite', 'project', 'manageMembers'],
  ['/-/issues/:iid', 'destroy', 'issue', 'destroy'],
  ['/-/issues/:iid', 'describe', 'issue', 'update'],
  ['/-/issues/:iid', 'move', 'issue', 'plan'],
  ['/-/issues/:iid', 'follow', 'issue', 'subscribe'],
  ['/-/issues/:iid', 'comment', 'issue', 'comment'],
  ['/-/issues', '/-/edit', 'group', 'own'],
  ['/-/labels', 'create', 'group', 'plan'],
  ['/-/milestones', 'create', 'group', 'plan'],
  ['/-/group_members', 'invite', 'group', 'manageMembers'],
]

const rows = (Object.keys(ABILITIES) as AbilityKind[]).flatMap((kind) =>
  Object.entries(ABILITIES[kind]).map(([ability, asked]) => [kind, ability, asked] as const),
)

function caseFor(asked: string): Case {
  const name = asked.replace(/\{(\w+)\}/g, ':$1')
  const found = cases.find((one) => one.name === name)
  if (!found) throw new Error(`${name} has no case`)
  return found
}

/** The parameters of the path in an address of the case. */
function paramsIn({ path }: Case, address: string): Record<string, string> {
  const pattern = new RegExp(`^${path.replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`)
  return pattern.exec(address)!.groups!
}

async function pageOf(s: Stage, caller: CallerName, address: string): Promise<string> {
  const credential = caller === 'anonymous' ? {} : { 'PRIVATE-TOKEN': s.cast.people[caller].token }
  return (await fetch(s.forge.url + address, { headers: { Accept: 'text/html', ...credential } })).text()
}

async function abilitiesOf(s: Stage, caller: CallerName, kind: AbilityKind, params: Record<string, string>) {
  const query = PARAMS[kind].map((name) => `${name}=${encodeURIComponent(params[name]!)}`).join('&')
  return JSON.parse(await pageOf(s, caller, `/-/abilities/${kind}?${query}`)) as Record<string, boolean>
}

describe.each(VISIBILITIES)('on a %s group and project', (visibility) => {
  let stage: Stage
  beforeAll(async () => {
    const forge = await startForge()
    await forge.stopWorker()
    stage = await setStage(forge, visibility)
  })
  afterAll(() => stage.forge[Symbol.asyncDispose]())

  test.each(rows)('%s: %s is for those whom the endpoint lets act', async (kind, ability, asked) => {
    const offered: Partial<Record<CallerName, boolean>> = {}
    const answered: Partial<Record<CallerName, boolean>> = {}
    // A refused call leaves the records to the next caller.
    let unused: { address: string; input: Input | undefined } | undefined
    for (const caller of CALLERS.filter((one) => one !== 'blocked')) {
      const who = stage.cast.people[caller === 'anonymous' ? 'owner' : caller]
      const client = stage.cast.callers[caller]
      const [path, inputFor] = ELSEWHERE[asked] ?? []
      if (path) {
        offered[caller] = (await abilitiesOf(stage, caller, kind, { id: String(stage.group.id) }))[ability]!
        answered[caller] = (await client.post(path, inputFor!(stage, `${ability}-${caller}`))).status === 201
        continue
      }
      const one = caseFor(asked)
      if (!unused || one.own) unused = { address: await addressOf(one, stage, who), input: await inputOf(one, stage) }
      const { address, input } = unused
      offered[caller] = (await abilitiesOf(stage, caller, kind, paramsIn(one, address)))[ability]!
      const { status } = await call(client, one.method, address, input)
      answered[caller] = !REFUSED.includes(status)
      if (answered[caller]) unused = undefined
    }
    expect(offered).toEqual(answered)
    expect(offered.administrator).toBe(true)
  })

  test.each(BUTTONS)('%s shows %s to those whose %s says %s', async (path, button, kind, ability) => {
    const { owner, group, project, make } = stage
    const { path_with_namespace } = (await owner.get(`/projects/${project.id}`)).body as Named
    const params: Record<string, string> = { id: kind === 'group' ? group.full_path : path_with_namespace }
    if (kind === 'issue') params.issue_iid = (await make(`/projects/${project.id}/issues`, { title: 'A leak' })).iid
    const base = `${kind === 'group' ? '/groups' : ''}/${params.id}`
    const marker = button.startsWith('/') ? `href="${base}${button}"` : `name="_action" value="${button}"`
    const offered: Partial<Record<CallerName, boolean>> = {}
    const shown: Partial<Record<CallerName, boolean>> = {}
    for (const caller of CALLERS.filter((one) => one !== 'blocked')) {
      offered[caller] = (await abilitiesOf(stage, caller, kind, params))[ability]!
      shown[caller] = (await pageOf(stage, caller, base + path.replace(':iid', params.issue_iid!))).includes(marker)
    }
    expect(shown).toEqual(offered)
    expect(shown.administrator).toBe(true)
  })
})

test('nothing is offered on an archived project that its endpoints refuse', async () => {
  await using forge = await startForge()
  await forge.stopWorker()
  const stage = await setStage(forge, 'public')
  const { owner, project } = stage
  const asked = Object.entries(ABILITIES.project).filter(([, one]) => /^P\w+ [^{]*\{id\}[^{]*$/.test(one))
  const calls = await Promise.all(
    asked.map(async ([ability, one]) => ({ ability, ...caseFor(one), input: await inputOf(caseFor(one), stage) })),
  )
  expect((await owner.post(`/projects/${project.id}/archive`)).status).toBe(200)
  const may = await abilitiesOf(stage, 'owner', 'project', { id: String(project.id) })
  const offered: Record<string, boolean> = {}
  const answered: Record<string, boolean> = {}
  for (const { ability, method, path, input } of calls) {
    offered[ability] = may[ability]!
    const { status } = await call(owner, method, path.replace(':id', String(project.id)), input)
    answered[ability] = !REFUSED.includes(status)
  }
  expect(offered).toEqual(answered)
  expect(offered).toMatchObject({ push: false, plan: false, manageMembers: false })
})

test('an ability of an unknown kind, or without its record, is no page', async () => {
  await using forge = await startForge()
  for (const address of ['nothing?id=1', 'constructor?id=1', 'project', 'issue?id=1', 'project/more?id=1'])
    expect((await fetch(`${forge.url}/-/abilities/${address}`)).status).toBe(404)
  const hidden = await fetch(`${forge.url}/-/abilities/project?id=1`)
  expect(new Set(Object.values((await hidden.json()) as object))).toEqual(new Set([false]))
})

test('pages ask for abilities and compare no levels', () => {
  const files = globSync('web/**/*.{ts,tsx}').filter((file) => !/web\/(levels|schema)\.ts$/.test(file))
  const LEVEL = /[lL]evel\w*(?:\([^)]*\))? (?:[<>]=?|[!=]==) (?:\d|[A-Z]{2})|[<>]=? \w*[lL]evel|\bpermissions\??\./
  const compared = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => LEVEL.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  )
  expect(compared).toEqual([])
  const readers = files.filter((file) => /\blevelOf\b/.test(readFileSync(file, 'utf8')))
  // Messages name the roles that they are for, and members choose a role up to their own.
  expect(readers.toSorted()).toEqual(['web/components/members/page.tsx', 'web/messages.ts'])
})
