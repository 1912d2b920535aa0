/** Two versions of a wiki page, line by line. */
import type { Api, Listed, Records } from '../../../api.ts'
import { Diff } from '../../../components/Diff.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Time } from '../../../components/Time.tsx'
import { Empty, Pages } from '../../../components/lists.tsx'
import { unifiedDiff } from './line-diff.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/wikis.ts'

export interface Comparison {
  readonly path: string
  readonly from: string
  readonly to: string
  readonly diff: string
}

const PAGE = '/projects/{id}/wikis/{slug}'

/** `?from=` and `?to=` name versions; before its creation a page is empty. */
export async function compareVersions(
  api: Api,
  at: { id: string; slug: string },
  query: URLSearchParams,
): Promise<Comparison | null> {
  const [from, to] = [query.get('from'), query.get('to')]
  if (!from || !to) return null
  const [before, after] = await Promise.all(
    [from, to].map(async (version) => (await api.maybe(PAGE, { ...at, version }))?.content ?? ''),
  )
  return { path: at.slug, from, to, diff: unifiedDiff(before!, after!) }
}

export function CompareView({ of: { path, from, to, diff } }: { of: Comparison }) {
  const file = {
    old_path: path,
    new_path: path,
    a_mode: '100644',
    b_mode: '100644',
    diff,
    new_file: false,
    renamed_file: false,
    deleted_file: false,
    generated_file: false,
    collapsed: false,
    too_large: false,
  }
  return (
    <>
      <p class="quiet">
        {rich(t.fromFromToTo, { from: <code>{from.slice(0, 8)}</code>, to: <code>{to.slice(0, 8)}</code> })}
      </p>
      {diff === '' ? <Empty title={common.noDifferences} /> : <Diff files={[file]} />}
    </>
  )
}

interface HistoryProps {
  versions: Listed<Records['WikiVersion'][]>
  here: string
}

/** The history of a page; two versions can be chosen for comparison. */
export function History({ versions, here }: HistoryProps) {
  const [first, second] = versions.items
  const choice = (name: string, id: string, chosen: string | undefined, label: string) => (
    <input type="radio" name={name} value={id} defaultChecked={id === chosen} aria-label={label} />
  )
  return (
    <>
      <form action={here}>
        <input type="hidden" name="view" value="compare" />
        {versions.items.length > 1 && (
          <p class="row">
            <button class="button">{t.compareSelectedVersions}</button>
            <span class="quiet">{t.leftColumnFromRightColumnTo}</span>
          </p>
        )}
        <ul class="items" aria-label={common.changes}>
          {versions.items.map((one) => (
            <li class="item" key={one.id}>
              {versions.items.length > 1 && (
                <span class="item-lead row">
                  {choice('from', one.id, second?.id, t.fromVersion(one.id.slice(0, 8)))}
                  {choice('to', one.id, first?.id, t.toVersion(one.id.slice(0, 8)))}
                </span>
              )}
              <div class="item-body">
                <div class="item-title">
                  <Icon name="commit" /> <a href={`${here}?version=${one.id}`}>{one.message.trim() || t.noMessage}</a>
                </div>
                <div class="item-facts">
                  {one.author_name}, <Time at={one.created_at} /> · {one.id.slice(0, 8)}
                </div>
              </div>
            </li>
          ))}
        </ul>
      </form>
      <Pages of={versions} />
    </>
  )
}
