/** What the families in `families.ts` come to, taken together. */
import type { Endpoint } from '../api/endpoint.ts'
import type { Families, Webhooks } from '../api/openapi.ts'
import * as named from './families.ts'
import type { Family, ItemFamily } from './family.ts'
import { registerBinKinds } from './planning/bin/kinds.ts'
import { registerItemKinds } from './planning/items/registry.ts'

/** By name, in the sources as in the bundle: so are the chapters of the documentation. No other order matters. */
const byKey = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]) => (one < other ? -1 : 1)
const sorted = Object.entries<Family | ItemFamily>(named).toSorted(byKey)

const kinds = sorted.flatMap(([, family]) => (typeof family === 'function' ? [] : (family.items ?? [])))
registerItemKinds(kinds)
registerBinKinds(sorted.flatMap(([, family]) => (typeof family === 'function' ? [] : (family.bin ?? []))))

const byName = sorted.map(([name, family]) => [name, typeof family === 'function' ? family(kinds) : family] as const)
const all = byName.map(([, family]) => family)

/** Endpoints by the name of their family, which is the chapter's too. */
export const families: Families = Object.fromEntries(
  byName.flatMap(([name, { routes }]) =>
    routes ? [[name, Object.fromEntries(Object.entries(routes).toSorted(byKey))]] : [],
  ),
)

export const v4: readonly Endpoint[] = Object.values(families).flatMap((routes) => Object.values(routes))
export const jobs = all.flatMap((family) => family.jobs ?? [])
export const reactions = all.flatMap((family) => family.reactions ?? [])
export const onUserRemoved = all.flatMap((family) => family.onUserRemoved ?? [])
export const afterPushes = all.flatMap((family) => family.afterPush ?? [])
export const secretResets = all.flatMap((family) => family.secretReset ?? [])
export const blobColumns = all.flatMap((family) => family.blobs ?? [])
export const projectPages = all.flatMap((family) => family.projectPages ?? [])
export const addressPages = all.flatMap((family) => family.addressPages ?? [])
/** By name. */
export const webhooks = async (): Promise<Webhooks> =>
  Object.assign({}, ...(await Promise.all(all.flatMap((family) => (family.webhooks ? [family.webhooks()] : [])))))
export const web = all.flatMap((family) => family.web ?? [])
