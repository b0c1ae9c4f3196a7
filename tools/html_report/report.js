"use strict";
(() => {
  const PIPES = ["S", "V", "MTE2", "MTE3"];
  const COLUMNS = ["start", "end", "first", "last", "issued", "wait", "reason", "kind", "index", "count", "busy"];
  const LANE = 17, GAP = 9, AXIS = 24, LABEL = 104, NEAREST = 4;
  const whole = (n) => Math.round(n).toLocaleString("en-US");
  const clamp = (v, lo, hi) => Math.min(hi, Math.max(lo, v));
  const escapeHtml = (s) => s.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

  // -- data -----------------------------------------------------------------------------------

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const raw = await new Response(stream).arrayBuffer();
    const length = new DataView(raw).getUint32(0, true);
    const data = JSON.parse(new TextDecoder().decode(new Uint8Array(raw, 4, length)));
    let at = 4 + length;
    const take = (size) => {
      const column = new Int32Array(raw, at, size);
      at += 4 * size;
      return column;
    };
    const sum = (a) => { for (let i = 1; i < a.length; i++) a[i] += a[i - 1]; return a; };
    for (const stream of data.streams) {
      const c = {};
      for (const name of COLUMNS) c[name] = take(stream.rows);
      sum(c.start);
      sum(c.index);
      for (let i = 0; i < stream.rows; i++) {
        c.busy[i] = c.end[i] - c.busy[i];
        c.end[i] += c.start[i];
        c.first[i] = c.start[i] - c.first[i];
        c.last[i] += c.end[i];
        c.issued[i] = c.start[i] - c.issued[i];
      }
      stream.columns = c;
      for (const buffer of stream.buffers || []) {
        const start = sum(take(buffer[4])), end = take(buffer[4]).map((d, i) => start[i] + d);
        buffer.track = track(start, end, end.map((e, i) => e - start[i]));
      }
    }
    const start = sum(take(data.blocks)), core = take(data.blocks), of = take(data.blocks);
    data.perCore = Array.from({ length: data.cores }, () => []);
    for (let b = 0; b < data.blocks; b++) {
      const stream = data.streams[of[b]];
      data.perCore[core[b]].push({ number: b, core: core[b], start: start[b], end: start[b] + stream.total, stream });
    }
    const [cores, pipes, from, to] = [0, 1, 2, 3].map(() => take(data.critical));
    data.path = [...cores].map((own, i) => ({ core: own, pipe: PIPES[pipes[i]], from: from[i], to: to[i] }));
    data.kinds = data.kinds.map(([name, form, pipe, file, line, fn, details, operands, sync, bytes, elements]) =>
      ({ name, form, pipe, file, line, fn, details, operands, sync: !!sync, bytes, elements }));
    return data;
  }

  /** Spans in order of time with running totals, so that the share of any range is two look-ups. */
  function track(start, end, busy) {
    const total = new Float64Array(start.length + 1);
    for (let i = 0; i < start.length; i++) total[i + 1] = total[i] + busy[i];
    return { start, end, busy, total };
  }

  function after(sorted, value) {
    let lo = 0, hi = sorted.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (sorted[mid] <= value) lo = mid + 1; else hi = mid;
    }
    return lo;
  }

  function until(t, when) {
    const i = after(t.start, when) - 1;
    return i < 0 ? 0 : t.total[i] + Math.min(t.busy[i], when - t.start[i]);
  }

  // -- one launch -----------------------------------------------------------------------------

  class Launch {
    constructor(root, data) {
      this.root = root;
      this.data = data;
      this.at = (q) => root.querySelector(q);
      this.number = root.dataset.launch;
      this.files = [...root.querySelectorAll("a.line")].reduce((all, a) => {
        const [, file] = a.closest("tr").id.split("-");
        all[file] = a.dataset.find.replace(/:\d+$/, "");
        return all;
      }, {});
      this.t0 = 0;
      this.t1 = data.cycles || 1;
      this.pick = null;
      this.frame = 0;
      for (const kind of data.kinds) kind.where = `${this.files[kind.file] || "line"}:${kind.line}`;
      this.stage = this.at(".stage");
      this.lanes = this.at(".lanes");
      this.readFilter();
      this.connect();
      new ResizeObserver(() => this.draw()).observe(this.stage);
    }

    // -- what is shown ------------------------------------------------------------------------

    readFilter() {
      const { data } = this;
      const words = this.at(".filter").value.trim().toLowerCase();
      // A line number does not match the longer ones that begin with it.
      const pattern = words && new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + (/:\d+$/.test(words) ? "(?!\\d)" : ""));
      this.filtering = !!words;
      // Places have a colon; a name must not match every line of a file that is called like it.
      const text = words.includes(":") ? (k) => k.where : (k) => `${k.name} ${k.form}`;
      this.match = data.kinds.map((k) => !pattern || pattern.test(text(k).toLowerCase()));
      this.pipes = PIPES.filter((p) => this.at(`.pipes input[value=${p}]`).checked);
      this.sync = this.at(".sync").checked;
      this.showPath = this.at("input.path").checked;
      this.cores = this.readCores();
      for (const stream of data.streams) {
        stream.tracks = {};
        for (const pipe of PIPES) stream.tracks[pipe] = this.lane(stream, pipe);
      }
      let found = 0, all = 0;
      for (const core of this.cores) for (const block of data.perCore[core]) for (const pipe of this.pipes) {
        found += block.stream.tracks[pipe].found;
        all += block.stream.tracks[pipe].all;
      }
      this.at(".matches").textContent = `${whole(found)} of ${whole(data.instructions)} instructions`;
      this.at(".matches").dataset.found = found;
      this.found = found;
      this.rows = this.cores.flatMap((core, i) => this.pipes.map((pipe, j) =>
        ({ core, pipe, y: AXIS + i * (this.pipes.length * LANE + GAP) + j * LANE, first: j === 0 })));
      this.height = AXIS + this.cores.length * (this.pipes.length * LANE + GAP);
      this.overviewBins = null;
    }

    readCores() {
      const box = this.at("input.cores"), text = box.value.trim();
      const all = [...Array(this.data.cores).keys()];
      const chosen = new Set();
      let bad = text !== "" && !/^\s*\d+\s*(-\s*\d+\s*)?(,\s*\d+\s*(-\s*\d+\s*)?)*$/.test(text);
      if (!bad) for (const part of text ? text.split(",") : []) {
        const [lo, hi = lo] = part.split("-").map(Number);
        for (const core of all) if (core >= lo && core <= hi) chosen.add(core);
      }
      bad ||= text !== "" && chosen.size === 0;
      box.setAttribute("aria-invalid", bad);
      return text && !bad ? all.filter((c) => chosen.has(c)) : all;
    }

    lane(stream, pipe) {
      const [lo, hi] = stream.lanes[pipe], c = stream.columns;
      const start = c.start.subarray(lo, hi), end = c.end.subarray(lo, hi), busy = c.busy.subarray(lo, hi);
      const lane = { ...track(start, end, busy), lo, found: 0, all: 0 };
      const matching = new Int32Array(hi - lo);
      for (let i = lo; i < hi; i++) {
        lane.all += c.count[i];
        if (!this.match[c.kind[i]]) continue;
        lane.found += c.count[i];
        matching[i - lo] = c.busy[i];
      }
      lane.matching = this.filtering ? track(start, end, matching) : lane;
      return lane;
    }

    // -- view ---------------------------------------------------------------------------------

    show(t0, t1) {
      const span = clamp(t1 - t0, 16, Math.max(16, this.data.cycles));
      this.t0 = clamp(t0, 0, Math.max(0, this.data.cycles - span));
      this.t1 = this.t0 + span;
      this.draw();
    }

    zoom(factor, at = this.focus()) {
      const span = clamp((this.t1 - this.t0) * factor, 16, this.data.cycles);
      const share = (at - this.t0) / (this.t1 - this.t0);
      this.show(at - span * share, at + span * (1 - share));
    }

    /** What buttons and keys zoom into: the chosen instruction if it is in sight, or the middle. */
    focus() {
      if (this.pick) {
        const { block, row } = this.pick, c = block.stream.columns;
        const middle = block.start + (c.start[row] + c.end[row]) / 2;
        if (middle >= this.t0 && middle <= this.t1) return middle;
      }
      return (this.t0 + this.t1) / 2;
    }

    pan(share) {
      const step = (this.t1 - this.t0) * share;
      this.show(this.t0 + step, this.t1 + step);
    }

    x(cycle) { return LABEL + (cycle - this.t0) / (this.t1 - this.t0) * (this.width - LABEL); }
    cycle(x) { return this.t0 + (x - LABEL) / (this.width - LABEL) * (this.t1 - this.t0); }

    draw() {
      if (this.frame) return;
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        if (!this.stage.clientWidth) return;
        this.readColours();
        this.drawLanes();
        this.drawOverview();
        this.drawBuffers();
        const per = 1 / this.data.clock;
        const range = this.at(".range");
        range.textContent = `cycles ${whole(this.t0)} to ${whole(this.t1)} (${(this.t0 * per).toFixed(2)} to ${(this.t1 * per).toFixed(2)} µs)`;
        range.dataset.from = Math.round(this.t0);
        range.dataset.to = Math.round(this.t1);
      });
    }

    readColours() {
      const style = getComputedStyle(document.documentElement);
      this.colour = {};
      for (const name of [...PIPES, "card", "ink", "faint", "line", "lane", "dim", "path", "bad", "warn", "accent"]) {
        this.colour[name] = style.getPropertyValue(`--${name}`).trim();
      }
    }

    canvas(element, width, height) {
      const ratio = window.devicePixelRatio || 1;
      if (element.width !== Math.round(width * ratio) || element.height !== Math.round(height * ratio)) {
        element.width = Math.round(width * ratio);
        element.height = Math.round(height * ratio);
        element.style.height = `${height}px`;
      }
      const g = element.getContext("2d");
      g.setTransform(ratio, 0, 0, ratio, 0, 0);
      g.clearRect(0, 0, width, height);
      g.font = "11px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";
      g.textBaseline = "middle";
      return g;
    }

    ticks() {
      const span = this.t1 - this.t0, room = Math.max(1, (this.width - LABEL) / 110);
      const rough = span / room, power = 10 ** Math.floor(Math.log10(rough));
      const step = Math.max(1, [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough));
      const ticks = [];
      for (let t = Math.ceil(this.t0 / step) * step; t <= this.t1; t += step) ticks.push(t);
      return ticks;
    }

    drawLanes() {
      const { stage, colour } = this;
      this.width = stage.clientWidth;
      this.at(".space").style.height = `${this.height}px`;
      const height = Math.min(this.height, Math.max(80, Math.round(window.innerHeight * 0.62)));
      const g = this.canvas(this.lanes, this.width, height), top = stage.scrollTop;
      const ticks = this.ticks();
      g.strokeStyle = colour.line;
      g.beginPath();
      for (const t of ticks) { const x = Math.round(this.x(t)) + 0.5; g.moveTo(x, AXIS); g.lineTo(x, height); }
      g.stroke();
      for (const row of this.rows) {
        const y = row.y - top;
        if (y < AXIS - LANE || y > height) continue;
        g.fillStyle = colour.lane;
        g.globalAlpha = 0.55;
        g.fillRect(LABEL, y, this.width - LABEL, LANE - 2);
        g.globalAlpha = 1;
        g.save();
        g.beginPath();
        g.rect(LABEL, y - 1, this.width - LABEL, LANE);
        g.clip();
        for (const block of this.data.perCore[row.core]) {
          if (block.end < this.t0 || block.start > this.t1) continue;
          this.drawTrack(g, block.stream.tracks[row.pipe], block, y, row.pipe);
        }
        this.drawStarts(g, row, y);
        g.restore();
        g.fillStyle = colour.faint;
        g.textAlign = "right";
        g.fillText(row.pipe, LABEL - 8, y + LANE / 2 - 1);
        if (row.first) {
          g.fillStyle = colour.ink;
          g.textAlign = "left";
          g.fillText(`core ${row.core}`, 8, y + LANE / 2 - 1);
        }
      }
      this.drawPath(g, top, height);
      this.drawMarks(g, top, height);
      g.fillStyle = colour.card;
      g.fillRect(0, 0, this.width, AXIS - 2);
      g.fillStyle = colour.faint;
      g.textAlign = "left";
      g.fillText("cycles", 8, 11);
      g.textAlign = "center";
      for (const t of ticks) if (this.x(t) < this.width - 24) g.fillText(whole(t), Math.max(this.x(t), LABEL + 8), 11);
    }

    drawTrack(g, lane, block, y, pipe) {
      const from = this.t0 - block.start, to = this.t1 - block.start, h = LANE - 2;
      const first = Math.max(0, after(lane.start, from) - 1), last = after(lane.start, to);
      const left = Math.max(LABEL, this.x(block.start)), right = Math.min(this.width, this.x(block.end));
      if (last - first > 2 * (right - left)) {
        this.drawShares(g, lane, block, left, right, y, h, pipe);
        return;
      }
      const c = block.stream.columns, { colour, data } = this;
      for (let i = first; i < last; i++) {
        const number = lane.lo + i, kind = data.kinds[c.kind[number]], match = this.match[c.kind[number]];
        const x0 = this.x(block.start + lane.start[i]), x1 = this.x(block.start + lane.end[i]);
        if (x1 < LABEL) continue;
        const width = Math.max(0.75, x1 - x0 - (x1 - x0 > 6 ? 1 : 0));
        if (kind.sync && c.count[number] === 1) {
          if (!this.sync) continue;
          // Waiting is a thin line at the foot of the lane; setting a flag is a tick.
          g.fillStyle = match ? colour[pipe] : colour.dim;
          g.globalAlpha = match ? 0.6 : 0.5;
          if (kind.form === "wait") g.fillRect(x0, y + h - 3, width, 2);
          else g.fillRect(x0, y + h - 7, Math.max(1, Math.min(width, 2)), 6);
          g.globalAlpha = 1;
        } else {
          g.fillStyle = match ? colour[pipe] : colour.dim;
          g.fillRect(x0, y, width, h);
          const room = Math.min(x1, this.width) - Math.max(x0, LABEL) - 8;
          if (room > 24) this.label(g, c.count[number] > 1 ? `${c.count[number]} × ${kind.name}` : kind.name, Math.max(x0, LABEL) + 4, y + h / 2, room, match);
        }
        if (this.pick && this.pick.row === number && this.pick.block === block) {
          g.strokeStyle = colour.ink;
          g.lineWidth = 2;
          g.strokeRect(x0 + 1, y + 1, Math.max(2, width - 2), h - 2);
          g.lineWidth = 1;
        }
      }
    }

    label(g, text, x, y, room, match) {
      let shown = text;
      if (g.measureText(shown).width > room) {
        const keep = Math.floor(shown.length * room / g.measureText(shown).width) - 1;
        if (keep < 3) return;
        shown = `${shown.slice(0, keep)}…`;
      }
      g.fillStyle = match ? this.onPipe() : this.colour.faint;
      g.textAlign = "left";
      g.fillText(shown, x, y);
    }

    onPipe() { return document.documentElement.dataset.theme === "dark" ? "#0c1016" : "#fff"; }

    /** Too many for single boxes: the height of each pixel column is the busy share of its time. */
    drawShares(g, lane, block, left, right, y, h, pipe) {
      const columns = (t, style) => {
        g.fillStyle = style;
        let before = until(t, this.cycle(left) - block.start);
        for (let x = left; x < right; x++) {
          const next = until(t, this.cycle(x + 1) - block.start);
          const share = (next - before) / (this.cycle(x + 1) - this.cycle(x));
          if (share > 0) { const tall = clamp(share, 0.06, 1) * h; g.fillRect(x, y + h - tall, 1, tall); }
          before = next;
        }
      };
      if (this.filtering) columns(lane, this.colour.dim);
      columns(lane.matching, this.colour[pipe]);
    }

    /** What a core does before each of its blocks: nothing but starting. */
    drawStarts(g, row, y) {
      const blocks = this.data.perCore[row.core];
      if (blocks.length > this.width) return;
      blocks.forEach((block, i) => {
        const x0 = Math.max(LABEL, this.x(i ? blocks[i - 1].end : 0)), x1 = Math.min(this.width, this.x(block.start));
        if (x1 - x0 < 1) return;
        g.fillStyle = this.colour.dim;
        g.globalAlpha = 0.3;
        g.fillRect(x0, y, x1 - x0, LANE - 2);
        g.globalAlpha = 1;
        if (row.first && x1 - x0 > 70) this.label(g, "start-up", x0 + 6, y + LANE / 2 - 1, x1 - x0 - 12, false);
      });
    }

    drawPath(g, top, height) {
      if (!this.showPath) return;
      const { path } = this.data, places = new Map(this.rows.map((r) => [`${r.core}/${r.pipe}`, r.y - top]));
      let before = null;
      g.fillStyle = this.colour.path;
      for (let i = Math.max(0, after(this.pathStarts ||= path.map((p) => p.from), this.t0) - 1); i < path.length; i++) {
        const step = path[i];
        if (step.from > this.t1) break;
        const y = places.get(`${step.core}/${step.pipe}`);
        const x0 = this.x(step.from), x1 = Math.min(this.x(step.to), this.width);
        if (y !== undefined && y > AXIS - LANE && y < height && x1 >= LABEL) {
          g.fillRect(Math.max(x0, LABEL), y - 2, Math.max(1, x1 - Math.max(x0, LABEL)), 3);
          if (before !== null && before !== y && x0 > LABEL) g.fillRect(x0 - 0.5, Math.min(before, y) - 2, 1.5, Math.abs(before - y) + 3);
        }
        before = y === undefined ? null : y;
      }
    }

    drawMarks(g, top, height) {
      this.markPlaces = [];
      for (const mark of this.data.marks) {
        const row = this.rows.find((r) => r.core === mark.core && r.pipe === mark.pipe) || this.rows.find((r) => r.core === mark.core);
        const x = this.x(mark.cycle);
        if (!row || x < LABEL || x > this.width) continue;
        const y = row.y - top + (LANE - 2) / 2;
        if (y < AXIS - 4 || y > height) continue;
        g.fillStyle = mark.severity === "error" ? this.colour.bad : this.colour.warn;
        g.strokeStyle = this.colour.card;
        g.lineWidth = 1.5;
        g.beginPath();
        g.moveTo(x, y - 8); g.lineTo(x + 8, y + 6); g.lineTo(x - 8, y + 6); g.closePath();
        g.fill(); g.stroke();
        g.fillStyle = this.colour.card;
        g.fillRect(x - 0.8, y - 3, 1.6, 5); g.fillRect(x - 0.8, y + 3, 1.6, 1.6);
        g.lineWidth = 1;
        this.markPlaces.push({ x, y: y + top, mark });
      }
    }

    drawOverview() {
      const strip = this.at(".overview"), width = strip.clientWidth, height = 40;
      if (!width) return;
      const g = this.canvas(strip, width, height), { data, colour } = this;
      if (!this.overviewBins || this.overviewBins.width !== width) this.overviewBins = this.measure(width);
      const bins = this.overviewBins;
      const each = (height - 4) / Math.max(1, this.pipes.length);
      this.pipes.forEach((pipe, j) => {
        g.fillStyle = colour[pipe];
        for (let x = 0; x < width; x++) {
          const tall = bins[pipe][x] * (each - 1);
          g.fillRect(x, 2 + (j + 1) * each - tall, 1, tall);
        }
      });
      const x0 = this.t0 / data.cycles * width, x1 = this.t1 / data.cycles * width;
      g.fillStyle = colour.dim;
      g.globalAlpha = 0.45;
      g.fillRect(0, 0, x0, height);
      g.fillRect(x1, 0, width - x1, height);
      g.globalAlpha = 1;
      g.strokeStyle = colour.accent;
      g.strokeRect(x0 + 0.5, 0.5, Math.max(2, x1 - x0 - 1), height - 1);
    }

    /** Mean busy share of the shown cores in each pixel of the overview. */
    measure(width) {
      const bins = { width }, { data } = this, step = data.cycles / width;
      for (const pipe of this.pipes) {
        const bin = bins[pipe] = new Float64Array(width);
        for (const core of this.cores) for (const block of data.perCore[core]) {
          const t = block.stream.tracks[pipe].matching;
          const last = Math.min(width - 1, Math.floor(block.end / step));
          let before = 0;
          for (let x = Math.floor(block.start / step); x <= last; x++) {
            const next = until(t, (x + 1) * step - block.start);
            bin[x] += (next - before) / step / this.cores.length;
            before = next;
          }
        }
      }
      return bins;
    }

    // -- buffers ------------------------------------------------------------------------------

    drawBuffers() {
      const canvas = this.at(".buffers"), core = Number(this.at("select.core").value);
      // As wide as the lanes above, which may have a scroll bar beside them.
      const width = this.width, tall = 84;
      const blocks = this.data.perCore[core].filter((b) => b.end >= this.t0 && b.start <= this.t1);
      const buffers = (blocks[0] || this.data.perCore[core][0])?.stream.buffers;
      const rows = buffers || [];
      const size = Math.max(10, Math.min(15, 260 / (rows.length || 1)));
      const g = this.canvas(canvas, canvas.clientWidth, tall + 8 + rows.length * size + 6), { colour } = this;
      this.bufferRows = { core, tall, size };
      g.fillStyle = colour.faint;
      g.textAlign = "left";
      if (!buffers) { g.fillText("Left out: too many buffer uses for a page.", 8, tall / 2); return; }
      const owned = rows.reduce((n, b) => n + b[3], 0) || this.data.ub;
      g.fillText(`${whole(owned / 1024)} of ${whole(this.data.ub / 1024)} KiB`, 8, 14);
      g.fillText("0", 8, tall - 4);
      g.strokeStyle = colour.line;
      g.strokeRect(LABEL - 0.5, 6.5, width - LABEL, tall - 6);
      const scale = (tall - 6) / owned;
      for (const block of blocks) {
        const all = block.stream.buffers || [];
        const left = Math.max(LABEL, Math.floor(this.x(block.start))), right = Math.min(width, this.x(block.end));
        const earlier = all.map((b) => until(b.track, this.cycle(left) - block.start));
        for (let x = left; x < right; x++) {
          const span = this.cycle(x + 1) - this.cycle(x);
          let bytes = 0, y = tall + 12;
          all.forEach((b, i) => {
            const next = until(b.track, this.cycle(x + 1) - block.start), share = (next - earlier[i]) / span;
            earlier[i] = next;
            bytes += share * b[3];
            if (share > 0.001 && all === rows) {
              g.fillStyle = this.bufferColour(b);
              g.globalAlpha = clamp(0.25 + 0.75 * share, 0, 1);
              g.fillRect(x, y + i * size, 1, size - 3);
              g.globalAlpha = 1;
            }
          });
          g.fillStyle = colour.accent;
          g.globalAlpha = 0.55;
          g.fillRect(x, tall - bytes * scale, 1, bytes * scale);
          g.globalAlpha = 1;
        }
      }
      rows.forEach((b, i) => {
        if (i && rows[i - 1][0] === b[0]) return;
        g.fillStyle = colour.faint;
        g.textAlign = "right";
        g.fillText(b[0], LABEL - 8, tall + 12 + i * size + size / 2 - 1);
      });
    }

    bufferColour(buffer) {
      const pipe = buffer[0].startsWith("VECIN") ? "MTE2" : buffer[0].startsWith("VECOUT") ? "MTE3" : "V";
      return this.colour[pipe];
    }

    // -- pointing -----------------------------------------------------------------------------

    find(x, y) {
      const row = this.rows.find((r) => y >= r.y && y < r.y + LANE - 1);
      if (!row || x < LABEL) return null;
      const when = this.cycle(x), slack = (this.t1 - this.t0) / (this.width - LABEL) * NEAREST;
      let best = null;
      for (const block of this.data.perCore[row.core]) {
        if (when < block.start - slack || when > block.end + slack) continue;
        const lane = block.stream.tracks[row.pipe], c = block.stream.columns, t = when - block.start;
        const near = after(lane.start, t + slack);
        for (let i = near - 1; i >= Math.max(0, near - 40); i--) {
          const number = lane.lo + i, sync = this.data.kinds[c.kind[number]].sync && c.count[number] === 1;
          if (sync && !this.sync) continue;
          const away = Math.max(0, lane.start[i] - t, t - lane.end[i] + (lane.end[i] > lane.start[i] ? 1e-6 : 0));
          if (away > slack) continue;
          // Work before flags, the nearer before the farther.
          const rank = away / slack + (sync ? 0.5 : 0);
          if (!best || rank < best.rank) best = { block, row: number, pipe: row.pipe, rank };
        }
      }
      return best;
    }

    describe({ block, row, pipe }, link) {
      const c = block.stream.columns, kind = this.data.kinds[c.kind[row]], per = 1000 / this.data.clock;
      const start = block.start + c.first[row], end = block.start + c.last[row];
      const place = link && document.getElementById(`s${this.number}-${kind.file}-${kind.line}`)
        ? `<a href="#s${this.number}-${kind.file}-${kind.line}">${escapeHtml(kind.where)}</a>` : escapeHtml(kind.where);
      if (c.count[row] > 1) {
        return `<b>${whole(c.count[row])} instructions</b> on ${pipe}, core ${block.core}, block ${block.number}<br>` +
          `cycles ${whole(start)} to ${whole(end)}, busy ${whole(c.busy[row])}; the longest is ${escapeHtml(kind.name)}, ${place}`;
      }
      const lines = [...kind.operands.map(escapeHtml)];
      if (kind.details) lines.push(escapeHtml(kind.details));
      if (kind.elements) lines.push(`${whole(kind.elements)} elements, ${(kind.elements / Math.max(1, end - start)).toFixed(1)} a cycle`);
      if (kind.bytes) lines.push(`${whole(kind.bytes)} bytes, ${(kind.bytes / Math.max(1, c.busy[row]) * this.data.clock / 1000).toFixed(1)} GB/s in its share of the pipe`);
      if (c.wait[row]) lines.push(`the pipe stood ${whole(c.wait[row])} cycles before it: ${escapeHtml(this.data.reasons[c.reason[row]] || "waiting")}`);
      return `<b>${escapeHtml(kind.name)}</b> (${escapeHtml(kind.form)}) on ${pipe}, core ${block.core}, block ${block.number}, instruction ${whole(c.index[row])}<br>` +
        `cycles ${whole(start)} to ${whole(end)} = ${whole(end - start)} (${((end - start) * per).toFixed(1)} ns), issued at ${whole(block.start + c.issued[row])}` +
        `<br>${place} in ${escapeHtml(kind.fn)}<ul>${lines.map((l) => `<li>${l}</li>`).join("")}</ul>`;
    }

    select(found, follow) {
      this.pick = found;
      this.at(".detail").innerHTML = found ? this.describe(found, true) : "";
      this.root.querySelectorAll(".source .now").forEach((e) => e.classList.remove("now"));
      if (found) {
        const c = found.block.stream.columns, kind = this.data.kinds[c.kind[found.row]];
        document.getElementById(`s${this.number}-${kind.file}-${kind.line}`)?.classList.add("now");
        if (follow) {
          const start = found.block.start + c.start[found.row], end = found.block.start + c.end[found.row];
          if (start < this.t0 || end > this.t1) {
            const span = Math.max(this.t1 - this.t0, 1.2 * (end - start)), middle = (start + end) / 2;
            this.show(middle - span / 2, middle + span / 2);
          }
        }
      }
      this.draw();
    }

    /** Select the next instruction that passes the filter, on the lane of the last one. */
    step(direction) {
      if (!this.pick) {
        const has = (r, test) => this.data.perCore[r.core].some((b) => test(b.stream.tracks[r.pipe]));
        const row = this.rows.find((r) => has(r, (t) => t.matching.total[t.start.length] > 0)) || this.rows.find((r) => has(r, (t) => t.found));
        if (!row) return;
        const block = this.data.perCore[row.core].find((b) => b.stream.tracks[row.pipe].found);
        this.pick = { block, row: block.stream.tracks[row.pipe].lo - 1, pipe: row.pipe };
        direction = 1;
      }
      let { block, row } = this.pick;
      const { pipe } = this.pick, blocks = this.data.perCore[block.core];
      for (;;) {
        const lane = block.stream.tracks[pipe], c = block.stream.columns;
        for (row += direction; row >= lane.lo && row < lane.lo + lane.start.length; row += direction) {
          const hidden = !this.sync && this.data.kinds[c.kind[row]].sync;
          if (this.match[c.kind[row]] && !hidden) { this.select({ block, row, pipe }, true); return; }
        }
        block = blocks[blocks.indexOf(block) + direction];
        if (!block) return;
        const next = block.stream.tracks[pipe];
        row = direction > 0 ? next.lo - 1 : next.lo + next.start.length;
      }
    }

    /** Select what the lane above or below does at the time of the chosen instruction. */
    across(direction) {
      const { block, row, pipe } = this.pick, when = block.start + block.stream.columns.start[row];
      const at = this.rows.findIndex((r) => r.core === block.core && r.pipe === pipe);
      for (let i = at + direction; this.rows[i]; i += direction) {
        const next = this.rows[i];
        for (const other of this.data.perCore[next.core]) {
          const lane = other.stream.tracks[next.pipe];
          if (when < other.start || when > other.end || !lane.start.length) continue;
          const near = Math.max(0, after(lane.start, when - other.start) - 1);
          this.select({ block: other, row: lane.lo + near, pipe: next.pipe }, true);
          const y = next.y - this.stage.scrollTop;
          if (y < AXIS + LANE || y > this.stage.clientHeight - 2 * LANE) this.stage.scrollTop = next.y - this.stage.clientHeight / 2;
          return;
        }
      }
    }

    openSource() {
      const link = this.at(".detail a");
      if (link) link.click();
    }

    // -- events -------------------------------------------------------------------------------

    connect() {
      const { stage } = this;
      const changed = () => { this.readFilter(); this.draw(); };
      this.at(".filter").addEventListener("input", changed);
      this.at("input.cores").addEventListener("input", changed);
      this.at(".tools").addEventListener("change", changed);
      this.at("select.core").addEventListener("change", () => this.draw());
      this.at(".in").addEventListener("click", () => this.zoom(0.5));
      this.at(".out").addEventListener("click", () => this.zoom(2));
      this.at(".fit").addEventListener("click", () => this.show(0, this.data.cycles));
      stage.addEventListener("scroll", () => this.draw());
      stage.addEventListener("wheel", (e) => {
        if (e.ctrlKey || e.metaKey || e.altKey) {
          e.preventDefault();
          this.zoom(Math.exp(clamp(e.deltaY, -60, 60) / 160), this.cycle(this.local(e)[0]));
        } else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
          e.preventDefault();
          this.pan((e.deltaX || e.deltaY) / this.width);
        }
      }, { passive: false });
      stage.addEventListener("dblclick", (e) => this.zoom(0.4, this.cycle(this.local(e)[0])));
      stage.addEventListener("pointerdown", (e) => this.drag(e));
      stage.addEventListener("pointermove", (e) => { if (!e.buttons) this.hover(e); });
      stage.addEventListener("pointerleave", () => { tip.hidden = true; });
      stage.addEventListener("keydown", (e) => this.key(e));
      this.at(".buffers").addEventListener("pointermove", (e) => this.hoverBuffer(e));
      this.at(".buffers").addEventListener("pointerleave", () => { tip.hidden = true; });
      this.at(".overview").addEventListener("pointerdown", (e) => this.brush(e));
      this.root.addEventListener("click", (e) => {
        const line = e.target.closest("a.line"), goto = e.target.closest("button.goto");
        if (line) {
          this.at(".filter").value = line.dataset.find;
          changed();
        } else if (goto) {
          this.goto(Number(goto.dataset.core), Number(goto.dataset.cycle));
        }
      });
    }

    goto(core, cycle) {
      if (!this.cores.includes(core)) this.at("input.cores").value = "";
      this.readFilter();
      const span = Math.min(this.data.cycles, 2000);
      this.show(cycle - span / 2, cycle + span / 2);
      const row = this.rows.find((r) => r.core === core);
      if (row) this.stage.scrollTop = row.y - AXIS - LANE;
      this.at("select.core").value = core;
      this.at(".timeline").scrollIntoView({ block: "start" });
    }

    local(e) {
      const box = this.stage.getBoundingClientRect();
      return [e.clientX - box.left - this.stage.clientLeft, e.clientY - box.top - this.stage.clientTop];
    }

    drag(e) {
      const box = this.stage.getBoundingClientRect();
      if (e.button || e.clientX > box.left + this.stage.clientLeft + this.stage.clientWidth) return;
      const from = e.clientX, [t0, t1] = [this.t0, this.t1];
      let moved = false;
      const move = (m) => {
        moved ||= Math.abs(m.clientX - from) > 3;
        if (!moved) return;
        tip.hidden = true;
        this.stage.classList.add("drag");
        const by = (from - m.clientX) / (this.width - LABEL) * (t1 - t0);
        this.show(t0 + by, t1 + by);
      };
      const up = (u) => {
        removeEventListener("pointermove", move);
        removeEventListener("pointerup", up);
        this.stage.classList.remove("drag");
        if (!moved) {
          const [x, y] = this.local(u), found = this.find(x, y + this.stage.scrollTop);
          this.select(found, false);
          if (found) { this.at("select.core").value = found.block.core; }
        }
      };
      addEventListener("pointermove", move);
      addEventListener("pointerup", up);
    }

    brush(e) {
      const strip = this.at(".overview"), box = strip.getBoundingClientRect();
      const cycle = (m) => clamp((m.clientX - box.left) / box.width, 0, 1) * this.data.cycles;
      const from = cycle(e), span = this.t1 - this.t0;
      let moved = false;
      const move = (m) => {
        const to = cycle(m);
        if (Math.abs(to - from) / this.data.cycles * box.width < 3) return;
        moved = true;
        this.show(Math.min(from, to), Math.max(from, to));
      };
      const up = () => {
        removeEventListener("pointermove", move);
        removeEventListener("pointerup", up);
        if (!moved) this.show(from - span / 2, from + span / 2);
      };
      addEventListener("pointermove", move);
      addEventListener("pointerup", up);
    }

    hover(e) {
      const [x, y] = this.local(e);
      const mark = (this.markPlaces || []).find((m) => Math.abs(m.x - x) < 9 && Math.abs(m.y - y - this.stage.scrollTop) < 9);
      if (mark) { showTip(e, `<b>${escapeHtml(mark.mark.code)}</b><br>${escapeHtml(mark.mark.message)}`); return; }
      const found = y > AXIS && this.find(x, y + this.stage.scrollTop);
      if (found) showTip(e, this.describe(found, false)); else tip.hidden = true;
    }

    hoverBuffer(e) {
      const canvas = this.at(".buffers"), box = canvas.getBoundingClientRect();
      const { core, tall, size } = this.bufferRows, y = e.clientY - box.top - tall - 12;
      const when = this.cycle(e.clientX - box.left), blocks = this.data.perCore[core];
      const block = blocks.find((b) => b.start <= when && when < b.end), all = block?.stream.buffers;
      tip.hidden = true;
      if (!all || e.clientX - box.left < LABEL) return;
      const held = (b) => { const i = after(b.track.start, when - block.start) - 1; return i >= 0 && when - block.start < b.track.end[i] ? i : -1; };
      if (y < 0) {
        const bytes = all.reduce((n, b) => n + (held(b) >= 0 ? b[3] : 0), 0);
        showTip(e, `<b>${whole(bytes)} of ${whole(this.data.ub)} bytes</b> hold data at cycle ${whole(when)}`);
        return;
      }
      const b = all[Math.floor(y / size)];
      if (!b) return;
      const i = held(b), place = `${whole(b[3])} bytes at UB 0x${b[2].toString(16)}`;
      const span = i < 0 ? "free" : `holds data in cycles ${whole(block.start + b.track.start[i])} to ${whole(block.start + b.track.end[i])}`;
      showTip(e, `<b>${escapeHtml(b[0])}</b>, ${place}<br>${span}`);
    }

    key(e) {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      const act = {
        ArrowLeft: () => this.pan(-0.15), ArrowRight: () => this.pan(0.15), a: () => this.pan(-0.15), d: () => this.pan(0.15),
        "+": () => this.zoom(0.6), "=": () => this.zoom(0.6), w: () => this.zoom(0.6),
        "-": () => this.zoom(1 / 0.6), s: () => this.zoom(1 / 0.6),
        0: () => this.show(0, this.data.cycles), Home: () => this.show(0, this.data.cycles),
        ",": () => this.step(-1), ".": () => this.step(1),
        ArrowUp: this.pick && (() => this.across(-1)), ArrowDown: this.pick && (() => this.across(1)),
        Enter: () => this.openSource(), Escape: () => this.select(null, false),
      }[e.key];
      if (act) { e.preventDefault(); act(); }
    }
  }

  // -- the page -------------------------------------------------------------------------------

  const tip = document.querySelector(".tip");
  const opened = new Map();
  let current = null;

  function showTip(e, html) {
    tip.innerHTML = html;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const x = e.clientX + 16 + box.width > innerWidth ? e.clientX - box.width - 12 : e.clientX + 16;
    const y = e.clientY + 16 + box.height > innerHeight ? e.clientY - box.height - 12 : e.clientY + 16;
    tip.style.left = `${Math.max(4, x)}px`;
    tip.style.top = `${Math.max(4, y)}px`;
  }

  async function open(number) {
    for (const main of document.querySelectorAll("main.launch")) {
      const own = main.dataset.launch === String(number);
      main.hidden = !own;
      // Links in the head lead to the sections of the launch that is shown.
      for (const section of main.querySelectorAll("[data-section]")) {
        if (own) section.id = section.dataset.section; else section.removeAttribute("id");
      }
    }
    if (!opened.has(number)) {
      const main = document.querySelector(`main.launch[data-launch="${number}"]`);
      opened.set(number, unpack(main.querySelector(".packed").textContent).then((data) => new Launch(main, data)));
    }
    current = await opened.get(number);
    current.draw();
    document.documentElement.dataset.ready = number;
  }

  function theme(name) {
    document.documentElement.dataset.theme = name;
    current?.draw();
  }

  const preference = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("ascsim-theme"); } catch { /* storage may be off for files */ }
  theme(chosen || (preference.matches ? "dark" : "light"));
  preference.addEventListener("change", () => { if (!chosen) theme(preference.matches ? "dark" : "light"); });
  document.querySelector("button.theme").addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("ascsim-theme", chosen); } catch { /* as above */ }
    theme(chosen);
  });
  document.querySelector("select.launches")?.addEventListener("change", (e) => open(Number(e.target.value)));
  document.addEventListener("click", (e) => {
    const link = e.target.closest('a[href^="#s"]');
    const row = link && document.getElementById(link.getAttribute("href").slice(1));
    row?.closest("details")?.setAttribute("open", "");
  });
  open(0);
})();
