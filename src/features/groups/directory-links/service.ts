import { z } from 'zod'
import { assertRules, limited, rulesOf } from '../../../api/rules.ts'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { conflict, invalid, notFound } from '../../../errors.ts'
import { isFilter } from '../../../directory/directory.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { TAKEN } from '../../../lib/text/faults.ts'
import { transact } from '../../../store/transact.ts'
import type { Group } from '../groups/queries.ts'
import { syncMembers } from './jobs.ts'
import type { DirectoryLink } from './queries.ts'

/** Fits into an index on every database. */
const indexed = limited(z.string(), 255)
const linkRules = rulesOf({ cn: indexed, filter: indexed, provider: indexed })

/** One of the two is set. */
interface Found {
  cn?: string | null | undefined
  filter?: string | null | undefined
}

interface NewLink extends Found {
  group_access: number
  provider: string
}

/** The directory need not be configured yet, nor contain the group: members are added once it does. */
export async function addLink(
  app: App,
  { id }: Group,
  { cn, filter, group_access, provider }: NewLink,
): Promise<DirectoryLink> {
  assertRules(linkRules, { cn, filter, provider })
  if (filter && !(await isFilter(filter))) throw invalid({ filter: ['must have valid syntax'] })
  return transact(app, async (app) => {
    const link = await app.db
      .insertInto('ldap_group_links')
      .values({
        group_id: id,
        cn: cn ?? '',
        filter: filter ?? '',
        group_access,
        provider,
        created_at: timestamp(app.clock),
      })
      .onConflict((c) => c.doNothing())
      .returningAll()
      .executeTakeFirst()
    if (!link) throw conflict(`${filter ? 'Filter' : 'Cn'} ${TAKEN}`)
    await resync(app, id)
    return link
  })
}

/** Without a provider, the links of every directory. */
export async function removeLinks(
  app: App,
  { id }: Group,
  { cn, filter, provider }: Found & { provider?: string | null | undefined },
): Promise<void> {
  await transact(app, async (app) => {
    const links = app.db
      .deleteFrom('ldap_group_links')
      .where('group_id', '=', id)
      .where('cn', '=', cn ?? '')
      .where('filter', '=', filter ?? '')
    const removed = await (provider ? links.where('provider', '=', provider) : links).returning('id').execute()
    if (removed.length === 0) throw notFound()
    await resync(app, id)
  })
}

/** Without the key of requested runs: a run in progress has already read the old links. */
const resync = (app: TransactionApp, group_id: number) => enqueue(app, syncMembers, { group_id })
