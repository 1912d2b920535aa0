/** Settings of the whole instance, by section. */
import { Button, Choice, Field, Form, Switch } from '../../../../components/Form.tsx'
import { Tabs } from '../../../../components/lists.tsx'
import { Boxes, Notice } from '../../../../components/settings.tsx'
import { flag, words } from '../../../../fields.ts'
import { adminFrame } from '../../../../layout/settings.tsx'
import { page as declare, text, texts } from '../../../../page.ts'
import { withQuery } from '../../../../query.ts'
import { sentence } from '../../../../words.ts'
import { CHAPTERS, COMPANIONS, chapterOf, settingsOf } from './chapters.ts'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/admin.ts'

interface Data {
  settings: Record<string, unknown>
}

const VISIBILITY = [
  ['private', t.privateLabel],
  ['internal', t.internal],
  ['public', common.publicVisibility],
] as const
const CHOICES: Record<string, readonly (readonly [string, string])[]> = {
  default_project_visibility: VISIBILITY,
  default_group_visibility: VISIBILITY,
  default_snippet_visibility: VISIBILITY,
  email_confirmation_setting: [
    ['off', t.off],
    ['soft', t.softConfirmWithinFewDays],
    ['hard', t.hardConfirmBeforeFirstSignIn],
  ],
  enabled_git_access_protocol: [
    ['', t.sshAndHttp],
    ['ssh', t.sshOnly],
    ['http', t.httpOnly],
  ],
  default_branch_protection: [
    ['0', t.notProtected],
    ['1', t.partiallyProtectedDevelopersCanPush],
    ['2', t.fullyProtectedOnlyMaintainersCanPush],
    ['3', t.protectedAgainstPushesDevelopersCan],
  ],
  default_project_creation: [
    ['0', common.noOne],
    ['1', common.maintainers],
    ['2', t.developersAndMaintainers],
    ['3', common.administrators],
    ['4', common.owners],
  ],
  first_day_of_week: [
    ['0', t.sunday],
    ['1', t.monday],
    ['6', t.saturday],
  ],
}

/** Lists of a few known values: checkboxes. */
const BOXES: Record<string, readonly (readonly [string, string])[]> = {
  restricted_visibility_levels: VISIBILITY,
}

/** A value as text for a form field. */
const written = (value: unknown): string =>
  Array.isArray(value)
    ? value.join(', ')
    : typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : ''

export const page = declare<Data>({
  signedIn: true,
  frame: adminFrame,
  load: ({ api }) => ({ settings: api.get('/application/settings', {}).then((all) => ({ ...all })) }),
  title: () => common.settings,
  View: ({ settings, query, address }) => {
    const chapter = chapterOf(query)
    const chapters = [...CHAPTERS.map(([name, title]) => [name, title] as const), ['other', common.other] as const]
    return (
      <>
        <h1>{common.settings}</h1>
        <Tabs
          label={t.sections}
          tabs={chapters.map(([name, title]) => ({
            text: title,
            href: withQuery(address, { chapter: name }),
            isCurrent: name === chapter,
          }))}
        />
        <div class="chapter">
          <Notice />
          <Form action="save">
            {settingsOf(chapter, settings).map((name) => (
              <Setting name={name} value={settings[name]} key={name} />
            ))}
            <Button kind="main">{t.saveSettings}</Button>
          </Form>
        </div>
      </>
    )
  },
  actions: {
    async save({ api, form, query }) {
      const now: Record<string, unknown> = { ...(await api.get('/application/settings', {})) }
      const names = settingsOf(chapterOf(query), now).filter((name) => form[name] !== undefined)
      const read = (name: string) =>
        typeof now[name] === 'boolean'
          ? flag(form, name)
          : name in BOXES
            ? texts(form, name).filter((value) => value !== '')
            : Array.isArray(now[name])
              ? words(form, name)
              : text(form, name)
      const same = (name: string) => written(now[name]) === written(read(name))
      const changed = names.filter((name) => !same(name))
      const companions = changed.flatMap((name) => COMPANIONS[name] ?? [])
      const input = [...new Set([...changed, ...companions])].map((name) => [name, read(name)] as const)
      if (changed.length > 0) await api.put('/application/settings', Object.fromEntries(input))
      return { flash: { notice: changed.length === 0 ? common.noChanges : common.saved } }
    },
  },
})

function Setting({ name, value }: { name: string; value: unknown }) {
  const label = sentence(name)
  const options = CHOICES[name]
  if (options) return <Choice name={name} label={label} options={options} value={written(value)} />
  const boxes = BOXES[name]
  // The empty value is sent when no box is checked.
  if (boxes)
    return (
      <>
        <input type="hidden" name={`${name}[]`} value="" />
        <Boxes name={name} label={label} options={boxes} values={value as string[]} />
      </>
    )
  if (typeof value === 'boolean') return <Switch name={name} label={label} isOn={value} />
  if (typeof value === 'number') return <Field name={name} label={label} type="number" value={value} />
  if (Array.isArray(value))
    return <Field name={name} label={label} value={written(value)} hint={common.commaSeparated} />
  const isLong = /text|terms/.test(name)
  return <Field name={name} label={label} value={written(value)} {...(isLong && { lines: 3 })} />
}
