// Tones one after another: [frequency in Hz, seconds]; 0 Hz is a pause.
export function play(audio, tones, after = 0) {
  if (!audio || audio.state !== "running") return;
  let at = audio.currentTime + Math.max(0, after);
  for (const [hertz, seconds] of tones) {
    if (hertz) {
      const tone = audio.createOscillator();
      const volume = audio.createGain();
      tone.frequency.value = hertz;
      tone.type = "triangle";
      volume.gain.setValueAtTime(0, at);
      volume.gain.linearRampToValueAtTime(0.25, at + 0.01);
      volume.gain.setValueAtTime(0.25, at + seconds - 0.02);
      volume.gain.linearRampToValueAtTime(0, at + seconds);
      tone.connect(volume).connect(audio.destination);
      tone.start(at);
      tone.stop(at + seconds);
    }
    at += seconds;
  }
}
