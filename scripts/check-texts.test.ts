import { expect, test } from 'vitest'
import { plant } from '../test/planted.ts'
import { checkTexts } from './check-texts.ts'

test('pages with texts of web/texts, values, code and the name of the product are in order', () => {
  using planted = plant({
    'web/texts/ci.ts': `export const newJob = 'New job'`,
    'web/pages/jobs.tsx': `import * as t from '../texts/ci.ts'
      export const View = ({ job }: { job: 'A job' }) => (
        <section class="job list" aria-label={t.newJob}>
          {t.newJob} · {job.state === 'Not started' ? null : <code>.gitlab-ci.yml</code>}
          <State of={job.isDone ? 'done' : 'open'} placeholder="v1.0" />
          <Copyable label="Mortise" text={\`git push \${job.ref ?? 'main'}\`} />
        </section>
      )`,
  })
  expect(checkTexts(planted.root)).toEqual({ files: 1, violations: [] })
})

test.each([
  ['<p>New job</p>', 'New job'],
  ['<b>{isDone ? "done" : t.open}</b>', 'done'],
  ['<b>{isDone && `${n} jobs`}</b>', 'jobs'],
  ['<input placeholder="name" />', 'name'],
  ['<Row facts={`by ${name}`} />', 'by'],
  ['<Tabs tabs={[["all", "All"]]} />', 'All'],
  ['send({ notice: "Saved." })', 'Saved.'],
  ['confirm(`Delete ${name}?`)', 'Delete ?'],
])('a literal text is refused: %s', (code, text) => {
  using planted = plant({ 'web/pages/jobs.tsx': `export const one = ${code}` })
  expect(checkTexts(planted.root).violations).toEqual([`web/pages/jobs.tsx:1: “${text}” belongs in web/texts`])
})

test.each([
  ['identity/oauth/pages.ts', 'html`<button>Deny</button>`', 'Deny'],
  ['identity/terms/pages.ts', 'html`<p>${isDone ? "Accepted" : null}</p>`', 'Accepted'],
  ['integrations/notifications/letters.ts', '({ opening: `${name} closed the issue.` })', 'closed the issue.'],
])('a literal text of %s is refused', (file, code, text) => {
  using planted = plant({
    [`src/features/${file}`]: `export const one = ${code}`,
    'src/features/identity/sessions/pages.ts': 'export const one = html`<b ${html`class="a" hidden`}>${t.deny}</b>`',
  })
  expect(checkTexts(planted.root).violations).toEqual([`src/features/${file}:1: “${text}” belongs in texts.ts`])
})
