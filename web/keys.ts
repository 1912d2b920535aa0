/**
 * Keyboard shortcuts of every page: `/` searches, `?` lists the shortcuts, `g` and a letter navigates, `t` finds a
 * file.
 */
const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

export function listenToKeys(): void {
  let isGoing = false
  addEventListener('keydown', (event) => {
    if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === '/') {
      event.preventDefault()
      document.querySelector<HTMLInputElement>('#search')?.focus()
    } else if (event.key === '?') location.assign('/help#keys')
    else if (!isGoing && event.key === 't') document.querySelector<HTMLElement>('[data-key="t"]')?.click()
    if (isGoing) document.querySelector<HTMLElement>(`[data-key="g ${CSS.escape(event.key)}"]`)?.click()
    isGoing = event.key === 'g' && !isGoing
  })
}
