/** Every component in every state, for developers. */
import { Avatar, Person } from '../../../components/Avatar.tsx'
import { Copyable } from '../../../components/CloneBox.tsx'
import { Button, Choice, Field, Form, Switch } from '../../../components/Form.tsx'
import { Icon, ICONS } from '../../../components/Icon.tsx'
import { Label, Prose, State, STATE_NAMES, Visibility } from '../../../components/State.tsx'
import { Duration, Time } from '../../../components/Time.tsx'
import { Empty, Row, Rows, Tabs } from '../../../components/lists.tsx'
import { WritingArea } from '../../../components/WritingArea.tsx'
import { page as declare } from '../../../page.ts'
import { Refused } from '../../../api.ts'

const JANE = { name: 'Jane Doe', username: 'jane', avatar_url: null, web_url: '/jane' }
const SIZES = [16, 24, 32, 48, 96] as const

export const page = declare<object>({
  load: () => ({}),
  title: () => 'Gallery',
  actions: {
    refuse: async () => {
      throw new Refused({ status: 400, headers: {}, body: { message: { title: ['is too short'] } } })
    },
  },
  View: () => (
    <>
      <h1>Gallery</h1>
      <h2>States</h2>
      <p class="row">
        {STATE_NAMES.map((state) => (
          <State of={state} key={state} />
        ))}
        <State of="something else" />
      </p>
      <h2>Words</h2>
      <p class="row">
        {['private', 'internal', 'public'].map((level) => (
          <Visibility of={level} key={level} />
        ))}
        <Label of={{ name: 'bug', color: '#c01c28' }} />
        <Label of={{ name: 'a label with a way', color: '#1f6feb' }} href="#" />
        <Time at="2020-02-29T12:00:00.000Z" /> <Duration seconds={59} /> <Duration seconds={3725} />
      </p>
      <h2>People</h2>
      <p class="row">
        {SIZES.map((size) => (
          <Avatar of={JANE} size={size} key={size} />
        ))}
        <Person of={JANE} /> <Person of={JANE} isShort /> <Person of={null} />
      </p>
      <h2>Icons</h2>
      <ul class="facts">
        {ICONS.map((name) => (
          <li key={name}>
            <Icon name={name} /> {name}
          </li>
        ))}
      </ul>
      <h2>Lists</h2>
      <Tabs
        label="Example"
        tabs={[
          { href: '#one', text: 'Open', count: 12, isCurrent: true },
          { href: '#two', text: 'Closed', count: 0, isCurrent: false },
        ]}
      />
      <Rows label="Example">
        <Row
          lead={<State of="opened" isShort />}
          title={<a href="#mill">The mill jams</a>}
          facts="#1 opened yesterday by Jane"
          aside={<Icon name="comment" />}
        />
        <Row title={'A title that goes on and on '.repeat(12)} facts={'and-what-cannot-be-broken'.repeat(12)} />
      </Rows>
      <Empty title="Nothing here">
        <p>And what to do about it.</p>
      </Empty>
      <h2>Forms</h2>
      <Form action="refuse">
        <Field name="title" label="Title" hint="What it is about." required />
        <Field name="text" label="Text" lines={4} value={'Several\nlines'} />
        <WritingArea name="long" label="Long text" lines={4} value="With **Markdown**" hasCommands />
        <Choice
          name="level"
          label="Level"
          value="b"
          options={[
            ['a', 'First'],
            ['b', 'Second'],
          ]}
        />
        <Switch name="on" label="Switched on" hint="And why." isOn />
        <Copyable label="Address" text="https://forge.example/mill.git" />
        <p class="row">
          <Button kind="main">Refused</Button>
          <Button>Plain</Button>
          <Button kind="danger">Dangerous</Button>
          <Button kind="plain">Like a link</Button>
        </p>
      </Form>
      <h2>Prose</h2>
      <Prose
        html={
          '<p>Text with <code>code</code> and <a href="#link">a link</a>.</p><ul><li>one</li><li>two</li></ul><blockquote>said</blockquote><pre><code>mill.turn()</code></pre><table><thead><tr><th>Head</th></tr></thead><tbody><tr><td>Cell</td></tr></tbody></table>'
        }
      />
    </>
  ),
})
