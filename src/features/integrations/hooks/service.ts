import type { ScopeColumns } from '../../../api/resource-scopes.ts'
import { assertRules } from '../../../api/rules.ts'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { Refusal, assertBelowLimit, notFound } from '../../../errors.ts'
import { withoutSecrets } from '../../../lib/net/masked-url.ts'
import type { NewRow, RowChange } from '../../../store/database.ts'
import { lockName } from '../../../store/dialect.ts'
import { drain } from '../../../store/draining.ts'
import { transact } from '../../../store/transact.ts'
import { isAllowedAddress } from '../outgoing.ts'
import { SWITCHES, kindOf, type AnySwitch, type BranchFilterStrategy, type Hook, type HookKind } from './model.ts'
import { filledUrl, openPairs, sealPairs, withPairs, withoutPair, type Pair, type PairKind } from './pairs.ts'
import { hooksIn } from './queries.ts'
import { isSigningToken } from './signing.ts'
import { assertValidFilter, isUsableUrl, textRules } from './validation.ts'

/** The instance has no limit. */
const MOST_HOOKS: Partial<Record<HookKind, number>> = { project: 100, group: 50 }

export interface HookInput extends Partial<Record<AnySwitch, boolean | null>> {
  url?: string
  name?: string | null
  description?: string | null
  token?: string | null
  signing_token?: string | null
  enable_ssl_verification?: boolean | null
  push_events_branch_filter?: string | null
  branch_filter_strategy?: BranchFilterStrategy | null
  custom_webhook_template?: string | null
  url_variables?: Pair[] | null
  custom_headers?: Pair[] | null
}

const BLANK = {
  name: null,
  description: null,
  token_sealed: null,
  signing_token_sealed: null,
  url_variables_sealed: null,
  custom_headers_sealed: null,
  custom_webhook_template: null,
  enable_ssl_verification: true,
  push_events_branch_filter: '',
  branch_filter_strategy: 'wildcard',
} as const

/** The switch that is on by default. */
const FIRST_ON: Readonly<Record<HookKind, AnySwitch>> = {
  project: 'push_events',
  group: 'push_events',
  instance: 'repository_update_events',
}

/** Null clears a text and leaves a switch unchanged. */
function columnsOf(app: App, kind: HookKind, input: HookInput): RowChange<'hooks'> {
  const { push_events_branch_filter: filter, url_variables: variables, custom_headers: headers } = input
  const sealed = (token: string | null | undefined) => (token ? app.vault.seal(token) : token)
  const pairs = (kind: PairKind, given: Pair[] | null | undefined) =>
    given === undefined ? undefined : sealPairs(app, withPairs(kind, [], given ?? []))
  const columns = {
    url: input.url,
    name: input.name,
    description: input.description,
    token_sealed: sealed(input.token),
    signing_token_sealed: sealed(input.signing_token),
    url_variables_sealed: pairs('url_variables', variables),
    custom_headers_sealed: pairs('custom_headers', headers),
    custom_webhook_template: input.custom_webhook_template,
    enable_ssl_verification: input.enable_ssl_verification ?? undefined,
    push_events_branch_filter: filter === null ? '' : filter,
    branch_filter_strategy: input.branch_filter_strategy ?? undefined,
  } satisfies RowChange<'hooks'>
  const switches = SWITCHES[kind].map((name) => [name, input[name] ?? undefined] as const)
  return Object.fromEntries([...switches, ...Object.entries(columns)].filter(([, value]) => value !== undefined))
}

type Addressed = Pick<Hook, 'url' | 'url_variables_sealed' | 'custom_headers_sealed'>

const filled = (app: App, hook: Addressed) => filledUrl(hook.url, openPairs(app, hook, 'url_variables'))

/** Checks new URLs only. An existing URL was allowed when it was saved, and every delivery checks it again. */
async function assertUsableUrl(app: App, kind: HookKind, row: Addressed): Promise<void> {
  const url = filled(app, row)
  const sender = kind === 'instance' ? 'system_hooks' : 'hooks'
  const isUsable =
    url !== null && isUsableUrl(row.url) && isUsableUrl(url) && (await isAllowedAddress(app, sender, url))
  if (!isUsable) throw new Refusal('unprocessable', 'Invalid url given', { as: 'error' })
}

async function assertValidInput(app: App, input: HookInput, row: NewRow<'hooks'>): Promise<void> {
  assertRules(textRules, input)
  if (input.signing_token && !isSigningToken(input.signing_token))
    throw new Refusal('unprocessable', 'Invalid signing token given', { as: 'error' })
  await assertValidFilter(app, row)
}

export async function createHook(app: App, at: ScopeColumns, input: HookInput & { url: string }): Promise<Hook> {
  const now = timestamp(app.clock)
  const { project_id, group_id } = at
  const kind = kindOf(at)
  const first = { [FIRST_ON[kind]]: true }
  const columns = columnsOf(app, kind, input)
  const row = { ...BLANK, ...first, url: input.url, ...columns, project_id, group_id, created_at: now, updated_at: now }
  await assertUsableUrl(app, kind, row)
  await assertValidInput(app, input, row)
  return transact(app, async (app) => {
    await assertHookAllowed(app, at)
    return app.db.insertInto('hooks').values(row).returningAll().executeTakeFirstOrThrow()
  })
}

async function assertHookAllowed(app: TransactionApp, at: ScopeColumns): Promise<void> {
  const kind = kindOf(at)
  const most = MOST_HOOKS[kind]
  if (most === undefined) return
  await lockName(app.db, `hooks of ${kind} ${at.project_id ?? at.group_id}`)
  const { total } = await hooksIn(app.db, at)
    .clearSelect()
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  assertBelowLimit(Number(total), most, `${kind} hooks`, (text) => new Refusal('unprocessable', text))
}

export async function updateHook(app: App, hook: Hook, input: HookInput): Promise<Hook> {
  const change = columnsOf(app, kindOf(hook), input)
  await assertValidInput(app, input, { ...hook, ...change })
  return changeHook(app, hook, (row) => (isMasked(row, change) ? { ...change, url: row.url } : change))
}

/** A client that sends back the masked URL keeps the stored URL. */
const isMasked = ({ url }: Hook, change: RowChange<'hooks'>) => change.url === withoutSecrets(url)

export async function setPair(app: App, hook: Hook, kind: PairKind, pair: Pair): Promise<void> {
  await changeHook(app, hook, (row) => ({
    [`${kind}_sealed`]: sealPairs(app, withPairs(kind, openPairs(app, row, kind), [pair])),
  }))
}

export async function removePair(app: App, hook: Hook, kind: PairKind, key: string): Promise<void> {
  await changeHook(app, hook, (row) => {
    const known = openPairs(app, row, kind)
    const left = withoutPair(kind, known, key)
    if (left.length === known.length) throw notFound()
    return { [`${kind}_sealed`]: sealPairs(app, left) }
  })
}

/** Serializes changes of one hook: each change sees the one before. */
async function changeHook(app: App, { id }: Hook, changeOf: (row: Hook) => RowChange<'hooks'>): Promise<Hook> {
  return transact(app, async (app) => {
    await lockName(app.db, `hook ${id}`)
    const row = await app.db.selectFrom('hooks').selectAll().where('id', '=', id).executeTakeFirst()
    if (!row) throw notFound() // deleted by another request meanwhile
    const change = await withoutOldSecrets(app, row, changeOf(row))
    return app.db
      .updateTable('hooks')
      .set({ ...change, updated_at: timestamp(app.clock) })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

/** A new URL may belong to another receiver, which must not get the secrets of the old one. */
async function withoutOldSecrets(app: App, row: Hook, change: RowChange<'hooks'>): Promise<RowChange<'hooks'>> {
  const isSame = change.url === undefined || change.url === row.url
  const variables = isSame ? {} : { url_variables_sealed: null }
  const next = { ...row, ...variables, ...change } as Hook
  if (isSame && filled(app, next) === filled(app, row)) return change
  await assertUsableUrl(app, kindOf(row), next)
  return { token_sealed: null, signing_token_sealed: null, custom_headers_sealed: null, ...variables, ...change }
}

/** False if the hook was already deleted. */
export async function deleteHook(app: App, hook: Hook): Promise<boolean> {
  if (!app.db.isTransaction) await drain(app, 'hooks', hook.id)
  const { numDeletedRows } = await app.db.deleteFrom('hooks').where('id', '=', hook.id).executeTakeFirst()
  return numDeletedRows > 0n
}
