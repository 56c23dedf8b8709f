package ecma

import "strings"

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// globalNames are the names that the language, the platforms and the test
// runners provide. A name that the repository declares wins over these.
var globalNames = set(`
Array ArrayBuffer Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date Error EvalError FinalizationRegistry Float32Array
Float64Array Function Infinity Int16Array Int32Array Int8Array Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError
ReferenceError Reflect RegExp Set SharedArrayBuffer String Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array
Uint8ClampedArray WeakMap WeakRef WeakSet AggregateError SuppressedError decodeURI decodeURIComponent encodeURI encodeURIComponent escape
unescape eval globalThis isFinite isNaN parseFloat parseInt undefined arguments

AbortController AbortSignal Blob BroadcastChannel Buffer ByteLengthQueuingStrategy CompressionStream CountQueuingStrategy Crypto CryptoKey
CustomEvent DecompressionStream DOMException Event EventSource EventTarget File FormData Headers MessageChannel MessageEvent MessagePort
Performance PerformanceEntry PerformanceObserver ReadableStream Request Response SubtleCrypto TextDecoder TextEncoder TransformStream URL
URLSearchParams WebAssembly WebSocket WritableStream atob btoa clearImmediate clearInterval clearTimeout console crypto fetch global
navigator performance process queueMicrotask require setImmediate setInterval setTimeout structuredClone __dirname __filename module exports
NodeJS BufferEncoding

window document self top parent frames location history screen localStorage sessionStorage indexedDB alert confirm prompt open close print
focus blur postMessage addEventListener removeEventListener dispatchEvent requestAnimationFrame cancelAnimationFrame requestIdleCallback
cancelIdleCallback getComputedStyle getSelection matchMedia scroll scrollTo scrollBy innerWidth innerHeight devicePixelRatio
customElements visualViewport caches isSecureContext origin reportError importScripts
Animation Attr Audio AudioBuffer AudioContext BeforeUnloadEvent CanvasGradient CanvasRenderingContext2D CharacterData ClipboardEvent
ClipboardItem CloseEvent Comment CompositionEvent CSSRule CSSStyleDeclaration CSSStyleSheet Document DocumentFragment DOMMatrix DOMParser
DOMPoint DOMRect DOMRectReadOnly DOMTokenList DragEvent Element ErrorEvent FileList FileReader FocusEvent FontFace Gamepad Geolocation
HashChangeEvent HTMLAnchorElement HTMLAudioElement HTMLBodyElement HTMLButtonElement HTMLCanvasElement HTMLCollection HTMLDivElement
HTMLDocument HTMLElement HTMLFormElement HTMLHeadElement HTMLHeadingElement HTMLIFrameElement HTMLImageElement HTMLInputElement
HTMLLabelElement HTMLLIElement HTMLLinkElement HTMLMediaElement HTMLOptionElement HTMLParagraphElement HTMLPreElement HTMLScriptElement
HTMLSelectElement HTMLSpanElement HTMLStyleElement HTMLTableElement HTMLTemplateElement HTMLTextAreaElement HTMLVideoElement
IDBDatabase IDBFactory IDBKeyRange IDBObjectStore IDBRequest IDBTransaction Image ImageBitmap ImageData InputEvent IntersectionObserver
KeyboardEvent Location MediaQueryList MediaRecorder MediaStream MouseEvent MutationObserver MutationRecord NamedNodeMap Navigator Node
NodeFilter NodeList Notification OffscreenCanvas Option Path2D PointerEvent PopStateEvent ProgressEvent PromiseRejectionEvent Range
ResizeObserver ResizeObserverEntry SVGElement SVGSVGElement ScreenOrientation Selection ServiceWorker ShadowRoot SharedWorker Storage
StorageEvent StyleSheet SubmitEvent Text TouchEvent TransitionEvent TreeWalker UIEvent WheelEvent Window Worker XMLHttpRequest XMLSerializer
RequestInit RequestInfo ResponseInit BodyInit HeadersInit EventListener EventListenerOrEventListenerObject AddEventListenerOptions
JSX React

Deno Bun

describe it test expect before beforeEach beforeAll after afterEach afterAll jest vi vitest suite specify context xdescribe xit xtest
fdescribe fit ftest setup teardown suiteSetup suiteTeardown assert chai sinon cy Cypress expectTypeOf assertType bench onTestFailed
onTestFinished QUnit jasmine spyOn fail pending

define requirejs jQuery $ angular __webpack_require__ __non_webpack_require__ __DEV__
`)

// objectMembers and functionMembers are what every object and function has.
var (
	objectMembers   = set(`toString toLocaleString valueOf hasOwnProperty isPrototypeOf propertyIsEnumerable constructor __proto__`)
	functionMembers = set(`call apply bind toString name length prototype`)
)
